import type { RunRow } from '../../core/state/rows.js';
import { isLiveWorker, isTerminalRun } from '../../core/state/states.js';
import { noticesText } from '../context/engine-texts.js';
import { openRun, type EngineDeps } from './deps.js';
import { undelivered } from './instruct.js';
import { pendingNotices } from './notices.js';

export interface NextDelivery {
  readonly messageIds: readonly string[];
  readonly text: string;
  readonly runId: string | undefined;
  /** A new instruction: what was reported or flagged before no longer counts. */
  readonly rearms: boolean;
}

/**
 * What the worker's agent should be given next, or null. Instructions go in order of acceptance and never ahead of the
 * run in progress; the lead's notices are pasted together, and only while it is idle.
 */
export function nextDelivery(deps: EngineDeps, workerId: string, turnOpen: boolean): NextDelivery | null {
  const { store, sessionId } = deps;
  const worker = store.worker(sessionId, workerId);
  if (worker === null || !isLiveWorker(worker.state)) return null;
  const current = openRun(store, sessionId, workerId);
  for (const message of undelivered(store.messages(sessionId, workerId))) {
    const run = message.run_id === null ? null : store.run(message.run_id);
    if (run === null || isTerminalRun(run.state)) continue;
    if (run.run_id !== current?.run_id) return null;
    return {
      messageIds: [message.message_id],
      text: message.text,
      runId: run.run_id,
      rearms: message.kind !== 'nudge',
    };
  }
  if (worker.role !== 'lead' || turnOpen) return null;
  const notices = pendingNotices(store, sessionId);
  if (notices.length === 0) return null;
  return {
    messageIds: notices.map((notice) => notice.message_id),
    text: noticesText(notices.map((notice) => notice.text)),
    runId: undefined,
    rearms: false,
  };
}

/** Something for this very run is still to be delivered. */
export function hasUndelivered(deps: EngineDeps, run: RunRow): boolean {
  const messages = deps.store.messages(deps.sessionId, run.worker_id);
  return undelivered(messages).some((message) => message.run_id === run.run_id);
}
