import { LEAD_ID } from '../../core/ids.js';
import type { ProcessEnd } from '../engine/deps.js';
import { sessionRow, type LiveSession, type SessionContext } from '../session-context.js';
import { relaunchLead } from './relaunch-lead.js';

export interface SessionEnd {
  readonly state: 'done' | 'failed' | 'paused' | 'timeout';
  readonly reason: string | null;
}

/** What can end a session from outside the store; the supervisor calls these. */
export interface EndSignals {
  /** Resolves when the session is to end, with how. */
  readonly ended: Promise<SessionEnd>;
  isSettled(): boolean;
  /** A verdict was recorded. */
  verdict(): void;
  pause(reason: string): void;
  fail(reason: string): void;
  timeout(seconds: number): void;
  /** The lead's process is gone. */
  leadEnded(how: ProcessEnd): void;
}

/**
 * Decides how a session ends: the lead's verdict; a pause; the time limit; a lead that is gone — closed on purpose
 * (its pane, or status 0) pauses, any other death gets one relaunch, then the session fails.
 */
export function watchForEnd(session: SessionContext, live: () => LiveSession): EndSignals {
  let resolveEnd: (end: SessionEnd) => void = () => undefined;
  const ended = new Promise<SessionEnd>((resolve) => (resolveEnd = resolve));
  let over = false;
  let relaunched = false;
  const settle = (end: SessionEnd) => {
    over = true;
    resolveEnd(end);
  };
  const fail = (reason: string) => settle({ state: 'failed', reason });
  return {
    ended,
    isSettled: () => over,
    verdict: () => settle({ state: sessionRow(session).verdict ?? 'failed', reason: null }),
    pause: (reason) => settle({ state: 'paused', reason }),
    fail,
    timeout: (seconds) =>
      settle({ state: 'timeout', reason: `the session's time of ${seconds} s is used up` }),
    leadEnded: (how) => {
      if (over || sessionRow(session).verdict !== null) return;
      // Its pane was closed by a person, or the whole place is gone: either way somebody must come back to it.
      if (how.kind === 'lost') return settle({ state: 'paused', reason: `the lead is gone: ${how.reason}` });
      const { status } = how;
      if (status === 0) return settle({ state: 'paused', reason: 'the lead was closed' });
      if (relaunched)
        return fail(`the lead ended again (status ${status ?? 'unknown'})${lastWords(session)}`);
      relaunched = true;
      session.logger.warn(
        { worker: LEAD_ID, status },
        'the lead ended without a verdict; starting it once more',
      );
      relaunchLead(session, live()).catch((error: unknown) =>
        fail(`the lead could not be started again: ${String(error)}`),
      );
    },
  };
}

/** What its screen showed last says more than a status; of several lines the last that tells of a failure. */
function lastWords({ store, sessionId }: SessionContext): string {
  const tail = store.worker(sessionId, LEAD_ID)?.output_tail ?? '';
  const lines = tail.split('\n').filter((line) => /\w/.test(line));
  const failure = lines.findLast((line) => /\b(error|fatal|failed|unable|cannot)\b/i.test(line));
  const last = (failure ?? lines.at(-1))?.trim();
  return last === undefined ? '' : `: ${last.slice(0, 200)}`;
}
