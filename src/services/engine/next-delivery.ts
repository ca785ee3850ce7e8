import type { MessageRow, RunRow } from '../../core/state/rows.js';
import { takesInstructions } from '../../core/state/states.js';
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
  if (worker === null || !takesInstructions(worker)) return null;
  const current = openRun(store, sessionId, workerId);
  // Somebody else does it; what is queued behind it waits as behind any other.
  if (current?.executor === 'external') return null;
  const due = undelivered(store.messages(sessionId, workerId)).find(
    (message) => current !== null && message.run_id === current.run_id,
  );
  if (due !== undefined) return deliveryOf([due]);
  const session = store.session(sessionId);
  const wantsNews = session?.state === 'active' && session.verdict === null;
  if (worker.role !== 'lead' || turnOpen || !wantsNews) return null;
  const notices = pendingNotices(store, sessionId);
  return notices.length === 0 ? null : deliveryOf(notices);
}

/** One message as it is typed, or several notices together. */
function deliveryOf(messages: readonly MessageRow[]): NextDelivery {
  const [first] = messages;
  const isNotice = first?.kind === 'notice';
  return {
    messageIds: messages.map((message) => message.message_id),
    text: isNotice ? noticesText(messages.map((message) => message.text)) : (first?.text ?? ''),
    runId: isNotice ? undefined : (first?.run_id ?? undefined),
    rearms: first?.kind === 'task' || first?.kind === 'follow_up',
  };
}

/** What an earlier supervisor typed without having seen it submitted. */
export function leftTyped(messages: readonly MessageRow[]): NextDelivery | null {
  const typed = messages.filter((message) => message.state === 'typed');
  const last = typed.at(-1);
  if (last === undefined) return null;
  return deliveryOf(last.kind === 'notice' ? typed.filter(({ kind }) => kind === 'notice') : [last]);
}

/** What was typed last, where that was given up as unconfirmed. */
export function leftUnconfirmed(messages: readonly MessageRow[]): NextDelivery | null {
  const last = messages.findLast((message) => message.typed_at !== null);
  if (last?.state !== 'unconfirmed') return null;
  return deliveryOf(
    messages.filter((message) => message === last || (last.kind === 'notice' && isBatch(message, last))),
  );
}

function isBatch(message: MessageRow, last: MessageRow): boolean {
  return message.kind === 'notice' && message.state === 'unconfirmed' && message.detail === last.detail;
}

/** Something for this very run is still to be delivered, or in the composer and about to be submitted. */
export function hasUndelivered(deps: EngineDeps, run: RunRow): boolean {
  return deps.store
    .messages(deps.sessionId, run.worker_id)
    .some((message) => message.run_id === run.run_id && (isPending(message) || message.state === 'typed'));
}
