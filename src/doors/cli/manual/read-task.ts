import { OrchestratorError } from '../../../core/errors/error.js';
import type { Parsed } from '../parse.js';

const LIMIT_BYTES = 64 * 1024;
const EXAMPLE = 'agentorchestr --manual --task "Fix the typo in README"';

/** What only a session with a lead knows. */
const OF_A_GOAL = ['goal', 'goal-file', 'interactive', 'lead', 'max-workers', 'lead-may-answer'];

/** `--task`, trimmed. Throws USAGE. */
export function readTask(parsed: Parsed): string {
  const other = parsed.given.find((name) => OF_A_GOAL.includes(name.replace(/^no-/, '')));
  if (other !== undefined)
    throw usage(
      `--manual and --${other} cannot be used together`,
      `in manual mode one agent does one task, and nobody leads: ${EXAMPLE}`,
    );
  const text = parsed.text('task');
  if (text === undefined)
    throw usage('--manual needs the task', `give it with --task: ${EXAMPLE}; for a team: --goal "…"`);
  const task = text.trim();
  if (task === '') throw usage('--task is empty', EXAMPLE);
  const bytes = Buffer.byteLength(task);
  if (bytes > LIMIT_BYTES)
    throw usage(
      `the task is ${bytes} bytes; the limit is ${LIMIT_BYTES}`,
      'put the long part into a file of the project and name that file in the task',
    );
  return task;
}

/** Flags of manual mode on a command line that asks for something else. Throws USAGE. */
export function refuseWithoutManual(given: readonly string[]): void {
  const stray = ['task', 'agent'].find((name) => given.includes(name));
  if (stray === undefined) return;
  const hint =
    stray === 'task'
      ? `for one agent: ${EXAMPLE}; for a team: --goal "…"`
      : `several agents work on a goal: --agents NAME…, --lead NAME; one on a task: ${EXAMPLE} --agent NAME`;
  throw usage(`--${stray} is for --manual`, hint);
}

function usage(problem: string, hint: string): OrchestratorError {
  return new OrchestratorError('USAGE', { problem, hint });
}
