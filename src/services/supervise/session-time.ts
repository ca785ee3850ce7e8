import { durationWords } from '../../core/duration.js';
import type { StoredEvent } from '../../core/events/index.js';
import { noticesFor } from '../engine/notices.js';
import type { SessionContext } from '../session-context.js';

/** So long before the end the lead is told at most; where there is less time, a tenth of it. */
const WARNING_MOST_MS = 10 * 60_000;
/** Nobody can do anything in less. */
const WARNING_LEAST_MS = 5_000;

/**
 * The time that a session has been at work: a pause does not count, a time without supervisor does, and a session that
 * is taken up after its end begins anew.
 */
function timeUsedMs(events: readonly StoredEvent[], now: number): number {
  let used = 0;
  let since: number | null = now;
  for (const event of events) {
    const at = Date.parse(event.at);
    if (event.type === 'session.created') since = at;
    if (event.type === 'session.resumed') since ??= at;
    if (event.type === 'session.paused' && since !== null) used += at - since;
    if (event.type === 'session.ended') used = 0;
    if (event.type === 'session.paused' || event.type === 'session.ended') since = null;
  }
  return since === null ? used : used + now - since;
}

/** Tells the lead when a session's time is nearly used up, and calls `onOver` when it is. Returns what calls it off. */
export function watchSessionTime(session: SessionContext, seconds: number, onOver: () => void): () => void {
  const { clock, store, sessionId } = session;
  const types = ['session.created', 'session.resumed', 'session.paused', 'session.ended'] as const;
  const events = store.events({ after: 0, sessionId, types });
  const limitMs = seconds * 1_000;
  const leftMs = Math.max(0, limitMs - timeUsedMs(events, clock.now()));
  const warningMs = Math.min(limitMs / 10, WARNING_MOST_MS);
  const cancelEnd = clock.after(leftMs, onOver);
  if (warningMs < WARNING_LEAST_MS || leftMs < WARNING_LEAST_MS) return cancelEnd;
  const cancelWarning = clock.after(Math.max(0, leftMs - warningMs), () =>
    warn(session, Math.min(leftMs, warningMs)),
  );
  return () => {
    cancelWarning();
    cancelEnd();
  };
}

function warn(session: SessionContext, leftMs: number): void {
  const text = [
    `The time of this session is used up in ${durationWords(leftMs)}; then every agent is ended.`,
    'Let workers commit and report what they have, integrate and verify what is finished,',
    'and call mark_goal_done, or mark_goal_failed with what is missing. What is not integrated stays in its worktree.',
  ].join(' ');
  session.store.transaction((tx) =>
    tx.append(...noticesFor(session, tx, { about: null, text, evidence: 'process' })),
  );
}
