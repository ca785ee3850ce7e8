import { LEAD_ID } from '../../core/ids.js';
import type { NewEvent } from '../../core/events/index.js';
import type { MessageRow } from '../../core/state/rows.js';
import type { Evidence } from '../../core/state/states.js';
import type { Reader, Store } from '../../store/contract.js';
import { fact, type EngineDeps } from './deps.js';
import { isPending } from './instruct.js';

/**
 * The lead's inbox: it is told once, durably, when a worker ends, waits or asks. A notice is a message to the lead; it
 * reaches it in the answer of a wait, else on its next tool result, else pasted when it is idle — whichever is first.
 * None where the session has no lead.
 */
export function noticesFor(
  deps: Pick<EngineDeps, 'sessionId' | 'newId'>,
  reader: Reader,
  notice: { about: string | null; text: string; evidence: Evidence },
): NewEvent[] {
  if (reader.worker(deps.sessionId, LEAD_ID) === null) return [];
  const { about, text, evidence } = notice;
  return [
    fact(
      'message.accepted',
      { session_id: deps.sessionId, worker_id: LEAD_ID, source: 'supervisor', evidence },
      { message_id: deps.newId(), kind: 'notice', sender: 'agentorchestr', text, about },
    ),
  ];
}

export function pendingNotices(reader: Reader, sessionId: string): MessageRow[] {
  return reader
    .messages(sessionId, LEAD_ID)
    .filter((message) => message.kind === 'notice' && isPending(message));
}

/** Marks notices as handed over and returns their texts; each is returned to exactly one caller. */
export function takeNotices(
  store: Store,
  sessionId: string,
  how: string,
  which: (notice: MessageRow) => boolean = () => true,
): MessageRow[] {
  if (!pendingNotices(store, sessionId).some(which)) return [];
  return store.transaction((tx) => {
    const taken = pendingNotices(tx, sessionId).filter(which);
    tx.append(
      ...taken.map((notice) =>
        fact(
          'message.submitted',
          { session_id: sessionId, worker_id: LEAD_ID, source: 'mcp', evidence: 'protocol' },
          { message_id: notice.message_id, how },
        ),
      ),
    );
    return taken;
  });
}
