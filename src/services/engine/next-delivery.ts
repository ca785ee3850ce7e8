import type { RunRow } from '../../core/state/rows.js';
import { isLiveWorker } from '../../core/state/states.js';
import { noticesText } from '../context/engine-texts.js';
import { openRun, type EngineDeps } from './deps.js';
import { isPending, undelivered } from './instruct.js';
import { pendingNotices } from './notices.js';

export interface NextDelivery {
  readonly messageIds: readonly string[];
  readonly text: string;
  readonly runId: string | undefined;
  /** A new instruction: what was reported or flagged before no longer counts. */
  readonly rearms: boolean;
  /** The file that `text` names, where the instruction itself cannot be typed. */
  readonly file?: string;
}

/**
 * What the worker's agent should be given next, or null. Instructions go in order of acceptance, those of the run in
 * progress before any of a later one; the lead's notices are pasted together, and only while it is idle.
 */
export function nextDelivery(deps: EngineDeps, workerId: string, turnOpen: boolean): NextDelivery | null {
  const { store, sessionId } = deps;
  const worker = store.worker(sessionId, workerId);
  if (worker === null || !isLiveWorker(worker.state)) return null;
  const current = openRun(store, sessionId, workerId);
  const due = undelivered(store.messages(sessionId, workerId)).find(
    (message) => current !== null && message.run_id === current.run_id,
  );
  if (due !== undefined)
    return {
      messageIds: [due.message_id],
      text: due.text,
      runId: current?.run_id,
      rearms: due.kind !== 'nudge',
    };
  const session = store.session(sessionId);
  const wantsNews = session?.state === 'active' && session.verdict === null;
  if (worker.role !== 'lead' || turnOpen || !wantsNews) return null;
  const notices = pendingNotices(store, sessionId);
  if (notices.length === 0) return null;
  return {
    messageIds: notices.map((notice) => notice.message_id),
    text: noticesText(notices.map((notice) => notice.text)),
    runId: undefined,
    rearms: false,
  };
}

/** Something for this very run is still to be delivered, or in the composer and about to be submitted. */
export function hasUndelivered(deps: EngineDeps, run: RunRow): boolean {
  return deps.store
    .messages(deps.sessionId, run.worker_id)
    .some((message) => message.run_id === run.run_id && (isPending(message) || message.state === 'typed'));
}
