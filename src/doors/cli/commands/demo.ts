import { EXIT } from '../../../core/errors/categories.js';
import { OrchestratorError } from '../../../core/errors/error.js';
import { GOAL_FLAGS, WATCH_FLAGS } from '../flags.js';
import { startGoal } from '../goal/start-goal.js';
import type { CliHost } from '../host.js';
import { parseFlags, type Parsed } from '../parse.js';
import { finish } from '../watch/finish.js';
import { watchSession } from '../watch/watch-session.js';

/** Watchable by default; nobody waits for nobody. */
const WATCHED_PACE = 1;

/**
 * One goal from its words to a verified branch, in a world of its own: a sample repository in a temporary folder, the
 * built-in scripted agent, the very same flow. Nothing is left behind unless `--keep`.
 */
export async function demo(host: CliHost, parsed: Parsed): Promise<number> {
  host.terminal.interruptOnHangUp();
  const { terminal } = host;
  const shown =
    parsed.isOn('attach') ?? (terminal.stdinIsTty && terminal.stdoutIsTty && parsed.isOn('json') !== true);
  const pace = paceOf(parsed) ?? (shown ? WATCHED_PACE : null);
  const prepared = await host.prepareDemo({ pace });
  const keep = parsed.isOn('keep') ?? false;
  let sessionId: string | null = null;
  const noted: CliHost = {
    ...prepared.host,
    isTemporary: !keep,
    startSession: async (plan) => {
      sessionId = plan.session_id;
      return prepared.host.startSession(plan);
    },
  };
  try {
    terminal.err(`A sample project in ${prepared.project}; the built-in scripted agent leads and works.\n`);
    const code = await startGoal(
      noted,
      parseFlags(goalArguments(prepared, parsed, keep), [...GOAL_FLAGS, ...WATCH_FLAGS], 'agentorchestr'),
    );
    if (code !== EXIT.goesOn || sessionId === null || keep) return code;
    terminal.err('The demo goes on here; Ctrl-C ends it.\n');
    return await finish(noted, await watchSession(noted, sessionId), { json: false });
  } finally {
    await prepared.close({ sessionId, keep });
  }
}

function goalArguments(
  prepared: { project: string; goal: string; agentOptions: readonly string[] },
  parsed: Parsed,
  keep: boolean,
): string[] {
  const passed = ['attach', 'json'].flatMap((name) => {
    const value = parsed.isOn(name);
    return value === undefined ? [] : [value ? `--${name}` : `--no-${name}`];
  });
  return [
    `--goal=${prepared.goal}`,
    `--project=${prepared.project}`,
    '--lead=scripted',
    '--agents=scripted',
    ...prepared.agentOptions.map((option) => `--agent-option=${option}`),
    '--yes',
    ...(keep ? [] : ['--kill-tmux']),
    ...passed,
  ];
}

function paceOf(parsed: Parsed): number | null {
  const text = parsed.text('pace');
  if (text === undefined) return null;
  const pace = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (pace >= 0 && pace <= 60) return pace;
  throw new OrchestratorError('USAGE', {
    problem: `--pace takes seconds from 0 to 60 (got "${text}")`,
    hint: '0 is as fast as it can, 1 is good to watch',
  });
}
