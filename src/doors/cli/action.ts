import { OrchestratorError } from '../../core/errors/error.js';
import { WATCH_FLAGS } from './flags.js';

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

/** Each does one thing only. */
export const LONE_ACTIONS = ['version', 'detect', 'list-sessions', 'doctor'] as const;

/** The action a flat command line asks for; `goal` when it names none. Throws USAGE when it names two. */
export function actionOf(
  given: readonly string[],
): 'goal' | 'manual' | 'resume' | 'detect' | 'list-sessions' | 'doctor' | 'version' {
  if (given.includes('resume')) return resumeOnly(given);
  const actions = LONE_ACTIONS.filter((name) => given.includes(name));
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
