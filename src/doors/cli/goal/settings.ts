import { OrchestratorError } from '../../../core/errors/error.js';
import { WATCH_FLAGS } from '../flags.js';
import type { Parsed } from '../parse.js';

export interface Limits {
  readonly max_workers?: number;
  readonly session_timeout_s?: number;
  readonly run_timeout_s?: number;
  readonly stall_s?: number;
}

const YEAR_S = 31_536_000;

export function readLimits(parsed: Parsed): Limits {
  const workers = wholeNumber(parsed, 'max-workers', { least: 1, most: 64, example: '--max-workers 4' });
  const seconds = wholeNumber(parsed, 'session-timeout', {
    least: 1,
    most: YEAR_S,
    example: '--session-timeout 3600 ends the session after an hour',
  });
  const run = wholeNumber(parsed, 'run-timeout', {
    least: 1,
    most: YEAR_S,
    example: '--run-timeout 1800 ends a task that takes longer than half an hour',
  });
  const stall = wholeNumber(parsed, 'stall-after', {
    least: 0,
    most: YEAR_S,
    example: '--stall-after 300 tells of an agent that is silent for five minutes; 0 never does',
  });
  return {
    ...(workers === undefined ? {} : { max_workers: workers }),
    ...(seconds === undefined ? {} : { session_timeout_s: seconds }),
    ...(run === undefined ? {} : { run_timeout_s: run }),
    ...(stall === undefined ? {} : { stall_s: stall }),
  };
}

function wholeNumber(
  parsed: Parsed,
  name: string,
  range: { least: number; most: number; example: string },
): number | undefined {
  const text = parsed.text(name);
  if (text === undefined) return undefined;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= range.least && value <= range.most) return value;
  throw new OrchestratorError('USAGE', {
    problem: `--${name} takes a whole number from ${range.least} to ${range.most} (got "${text}")`,
    hint: range.example,
  });
}

/** `--verify` commands; an empty one would pass always. */
export function readVerify(parsed: Parsed): readonly string[] {
  const commands = parsed.texts('verify').map((command) => command.trim());
  if (!commands.includes('')) return commands;
  throw new OrchestratorError('USAGE', {
    problem: '--verify has an empty command',
    hint: 'give a command that fails when the result is wrong, such as --verify "npm test"',
  });
}

/** Flags that say opposite things, or belong to another action. */
export function refuseContradictions(given: readonly string[]): void {
  const pairs = [
    ['attach', 'json', '--json prints one document and shows no panes'],
    ['kill-tmux', 'no-tmux-cleanup', 'one closes the panes, the other keeps them'],
  ] as const;
  for (const [one, other, why] of pairs)
    if (given.includes(one) && given.includes(other))
      throw new OrchestratorError('USAGE', {
        problem: `--${one} and --${other} contradict each other`,
        hint: why,
      });
}

const ADDING = ['goal', 'goal-file'];
const WATCHING = WATCH_FLAGS.map(({ name }) => name);

/** The action a flat command line asks for; `goal` when it names none. Throws USAGE when it names two. */
export function actionOf(
  given: readonly string[],
): 'goal' | 'manual' | 'resume' | 'detect' | 'list-sessions' | 'doctor' | 'version' {
  if (given.includes('resume')) return resumeOnly(given);
  const actions = (['version', 'detect', 'list-sessions', 'doctor'] as const).filter((name) =>
    given.includes(name),
  );
  const [action] = actions;
  if (given.includes('fix') && action !== 'doctor')
    throw new OrchestratorError('USAGE', {
      problem: '--fix is for --doctor',
      hint: 'agentorchestr --doctor --fix',
    });
  if (action === undefined) return given.includes('manual') ? 'manual' : 'goal';
  const more = given.includes('fix') ? ['json', 'fix', 'yes'] : ['json'];
  const other = given.find((name) => name !== action && !more.includes(name));
  if (other === undefined) return action;
  throw new OrchestratorError('USAGE', {
    problem: `--${action} and --${other} cannot be used together`,
    hint: `--${action} does one thing only (--json changes its form)`,
  });
}

/** How it is shown may be chosen anew; what the session is was chosen when it began. */
function resumeOnly(given: readonly string[]): 'resume' {
  const fits = (name: string) => ADDING.includes(name) || WATCHING.includes(name.replace(/^no-/, ''));
  const other = given.find((name) => name !== 'resume' && !fits(name));
  if (other === undefined) return 'resume';
  throw new OrchestratorError('USAGE', {
    problem: `--resume and --${other} cannot be used together`,
    hint: 'a session goes on with the settings that it began with; --goal adds to its goal',
  });
}
