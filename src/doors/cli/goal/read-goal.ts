import { resolve } from 'node:path';
import { OrchestratorError } from '../../../core/errors/error.js';
import { readTextFile } from '../../../platform/files.js';
import type { CliHost } from '../host.js';
import type { Parsed } from '../parse.js';
import { expandHome } from './agent-options.js';

const WARN_BYTES = 8 * 1024;
const LIMIT_BYTES = 64 * 1024;

/**
 * The goal, trimmed: from `--goal`, `--goal-file`, or typed in on a terminal. Throws USAGE, GOAL_MISSING,
 * GOAL_TOO_LARGE, NOT_A_TTY, FILE_NOT_READABLE.
 */
export async function readGoal(parsed: Parsed, host: CliHost): Promise<{ goal: string; warnings: string[] }> {
  const goal = (await source(parsed, host)).trim();
  if (goal === '') throw new OrchestratorError('GOAL_MISSING');
  const bytes = Buffer.byteLength(goal);
  if (bytes > LIMIT_BYTES) throw new OrchestratorError('GOAL_TOO_LARGE', { bytes, limit: LIMIT_BYTES });
  const long = `the goal is long (${bytes} bytes): agents follow short goals better; details belong in files of the project`;
  return { goal, warnings: bytes > WARN_BYTES ? [long] : [] };
}

/** Nothing on the command line has the goal. */
export function isTyped(parsed: Parsed): boolean {
  return !parsed.given.includes('goal') && !parsed.given.includes('goal-file');
}

async function source(parsed: Parsed, host: CliHost): Promise<string> {
  const ways = ['goal', 'goal-file', 'interactive'].filter((name) => parsed.given.includes(name));
  if (ways.length > 1)
    throw new OrchestratorError('USAGE', {
      problem: `${ways.map((name) => `--${name}`).join(' and ')} are two ways to give one goal`,
      hint: 'give the goal in one way',
    });
  const [text, file] = [parsed.text('goal'), parsed.text('goal-file')];
  if (text !== undefined) return text;
  if (file !== undefined) return readGoalFile(file, host);
  if (parsed.isOn('interactive') === true && !host.terminal.stdinIsTty)
    throw new OrchestratorError('NOT_A_TTY', {
      what: '--interactive',
      hint: 'run it in a terminal, or give the goal with --goal or --goal-file',
    });
  if (!host.terminal.stdinIsTty) throw new OrchestratorError('GOAL_MISSING');
  return typeGoal(host);
}

async function readGoalFile(file: string, host: CliHost): Promise<string> {
  if (file.trim() === '')
    throw new OrchestratorError('USAGE', { problem: '--goal-file is empty', hint: 'name a text file' });
  const path = resolve(expandHome(file, host.env));
  const text = await readTextFile(path);
  if (text === null) throw new OrchestratorError('FILE_NOT_READABLE', { path, problem: 'it does not exist' });
  return text;
}

async function typeGoal({ terminal }: CliHost): Promise<string> {
  terminal.err('What is to be reached? End with /end on a line of its own, two blank lines, or Ctrl-D.\n');
  const lines = await terminal.readLines(isComplete);
  return lines.at(-1) === '/end' ? lines.slice(0, -1).join('\n') : lines.join('\n');
}

/** Two blank lines end a goal that has begun; before that they are only blank lines. */
export function isComplete(lines: readonly string[]): boolean {
  if (lines.at(-1) === '/end') return true;
  const begun = lines.some((line) => line.trim() !== '');
  return begun && lines.length >= 2 && lines.at(-1)?.trim() === '' && lines.at(-2)?.trim() === '';
}
