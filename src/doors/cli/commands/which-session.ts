import { resolve, sep } from 'node:path';
import { OrchestratorError } from '../../../core/errors/error.js';
import type { CliHost, SessionListing } from '../host.js';
import { sessionInWords } from '../output/session-in-words.js';

/** Older sessions are not meant by whoever names none. */
export const LOOKED_AT = 200;

/**
 * The session that a prefix names; without one the newest of this project, else the newest of all, and says which. One
 * that was cleaned is last: what is asked about it is seldom meant.
 */
export async function whichSession(host: CliHost, prefix: string | undefined): Promise<string> {
  if (prefix !== undefined) return host.findSession(prefix);
  const sessions = await host.listSessions(LOOKED_AT);
  const here = sessions.filter(({ project }) => isHere(project));
  const candidates = here.length > 0 ? here : sessions;
  // They come by when they changed last, which a pause of an old one does too.
  const newest = candidates.toSorted((a, b) => b.created_at.localeCompare(a.created_at));
  const chosen = newest.find(({ cleaned_at: cleaned }) => cleaned === null) ?? newest[0];
  if (chosen === undefined) throw new OrchestratorError('NO_SESSIONS');
  host.terminal.err(
    `session ${chosen.session_id} (the newest ${isHere(chosen.project) ? 'of this project' : 'of all'})\n`,
  );
  return chosen.session_id;
}

/**
 * For what changes a session: without a name only the one running session of this project will do. `naming`: how the
 * command line is told one.
 */
export async function whichRunningSession(
  host: CliHost,
  prefix: string | undefined,
  naming = (sessionId: string) => `--session ${sessionId}`,
): Promise<string> {
  if (prefix !== undefined) return host.findSession(prefix);
  const running = (await host.listSessions(LOOKED_AT)).filter((session) => session.state === 'active');
  const here = running.filter(({ project }) => isHere(project));
  const candidates = here.length > 0 ? here : running;
  const [only, ...others] = candidates;
  if (only === undefined) throw new OrchestratorError('NO_SESSIONS', { wanted: 'running' });
  if (others.length > 0)
    throw new OrchestratorError('USAGE', {
      problem: `more than one session runs: ${candidates.map((session) => session.session_id).join(', ')}`,
      hint: `say which one: ${naming(only.session_id)}`,
    });
  // It is another project's: whoever stops or answers it shall see so.
  const whose = isHere(only.project) ? '' : ` (of ${only.project})`;
  host.terminal.err(`session ${only.session_id}${whose}\n`);
  return only.session_id;
}

/** `--resume` takes it up, or shows it. */
export function canGoOn({ resumable, state }: SessionListing): boolean {
  return resumable || state === 'active';
}

/** It waits to go on; one that failed may be gone on with too, but nobody waits for it. */
export function isPaused({ resumable, state }: SessionListing): boolean {
  return resumable && ['paused', 'crashed'].includes(state);
}

export function isRunning({ state }: SessionListing): boolean {
  return state === 'active';
}

/**
 * To go on with, without a name: only where no other session of this project can be meant. One that runs is not, while
 * another waits to go on, and one that failed is the last to be.
 */
export async function whichToGoOn(host: CliHost): Promise<string> {
  const goesOn = (await host.listSessions(LOOKED_AT)).filter(canGoOn);
  const here = goesOn.filter(({ project }) => isHere(project));
  const meant = [here.filter(isPaused), here.filter(isRunning), here];
  const candidates = meant.find(({ length }) => length > 0) ?? [];
  const [only, ...others] = candidates;
  if (only === undefined)
    throw new OrchestratorError('NO_SESSIONS', { wanted: 'resumable', elsewhere: goesOn.length > 0 });
  if (others.length > 0)
    throw new OrchestratorError('USAGE', {
      problem: `more than one session of this project can go on: ${candidates.map(sessionInWords).join('; ')}`,
      hint: `say which one: agentorchestr --resume ${only.session_id}`,
    });
  host.terminal.err(`session ${sessionInWords(only)}\n`);
  return only.session_id;
}

function isHere(project: string): boolean {
  const here = resolve('.');
  return here === project || here.startsWith(`${project}${sep}`);
}
