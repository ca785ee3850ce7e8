import type { MessageRow, RunRow } from '../../core/state/rows.js';
import type { Executor } from '../../core/state/states.js';
import type { Caller } from '../operation.js';
import { fact } from '../engine/deps.js';
import { acceptInstruction } from '../engine/instruct.js';
import { answered, checkAnswerer, openEscalation } from './children/escalations.js';
import {
  findConversation,
  findRun,
  FIRST_WORKER,
  firstWorker,
  requireUnarchived,
} from './conversation-row.js';
import type { Gateway } from './gateway.js';
import { once } from './once.js';

export interface MessageRequest {
  /** The operation by which it came: a key of one is not a key of another. */
  readonly by: 'messages' | 'runs' | 'send';
  readonly session_id: string;
  readonly text: string;
  readonly timeout_s?: number | undefined;
  readonly executor?: Executor | undefined;
  readonly idempotency_key?: string | undefined;
  readonly caller: Pick<Caller, 'scope' | 'name'>;
  /** Another session says it: the text tells the agent so. */
  readonly from?: { readonly sender: string; readonly runId: string | null } | undefined;
}

export interface PostedMessage {
  readonly message: MessageRow;
  readonly run: RunRow;
  readonly replayed: boolean;
}

/**
 * Takes a message on: from its commit on it is not lost. It makes a run, or continues the one that waits for it. Throws
 * SESSION_NOT_FOUND, SESSION_ENDED, SESSION_OWNED, IDEMPOTENCY_KEY_REUSED, SHUTTING_DOWN.
 */
export async function postMessage(gateway: Gateway, request: MessageRequest): Promise<PostedMessage> {
  const { store, settings } = gateway;
  const { session_id: sessionId, text, caller, from } = request;
  findConversation(store, sessionId);
  const engine = await gateway.conversations.engine(sessionId);
  const { result, replayed } = store.transaction((tx) => {
    const { by: operation, idempotency_key: key, timeout_s: timeoutS, executor = 'pool' } = request;
    const keyed = {
      scope: `gateway:${operation}:${sessionId}`,
      key,
      input: { text, timeout_s: timeoutS ?? null, ...from, ...(executor === 'pool' ? {} : { executor }) },
    };
    return once(tx, keyed, () => {
      requireUnarchived(findConversation(tx, sessionId));
      checkAnswerer(tx, sessionId, caller);
      // One that waits is the oldest that is not over: what came after it stands behind it.
      const open = tx.openRun(sessionId);
      const escalation = open?.state === 'waiting' ? openEscalation(tx, open) : null;
      const worker = firstWorker(tx, sessionId);
      const timeoutMs = timeoutS === undefined ? settings.runTimeoutMs : timeoutS * 1_000;
      const by = from?.sender ?? caller.name;
      const { messageId, runId, continues } = acceptInstruction(
        { sessionId, newId: () => gateway.newId() },
        tx,
        worker,
        {
          kind: worker.last_run_id === null ? 'task' : 'follow_up',
          ...{
            text: from === undefined ? text : `Message from ${by}:\n\n${text}`,
            sender: by,
            source: 'rest',
          },
          ...(from === undefined || from.runId === null ? {} : { parentRunId: from.runId }),
          ...(timeoutMs === null || timeoutMs === 0 ? {} : { timeoutMs }),
          ...(executor === 'pool' ? {} : { executor }),
        },
      );
      if (continues && escalation?.data.run === runId) answered(tx, escalation, { by, messageId });
      return { message_id: messageId, run_id: runId };
    });
  });
  engine.pump(FIRST_WORKER);
  const message = store.message(result.message_id);
  if (message === null) throw new Error(`message ${result.message_id} was not accepted`);
  return { message, run: findRun(gateway, result.run_id), replayed };
}

/**
 * Puts something into a conversation that makes no run: its agent gets it with the next instruction. Throws
 * SESSION_NOT_FOUND, SESSION_ENDED, IDEMPOTENCY_KEY_REUSED.
 */
export function putContext(
  gateway: Gateway,
  request: Pick<MessageRequest, 'session_id' | 'text' | 'idempotency_key' | 'caller'> & {
    readonly role: 'system' | 'assistant';
  },
): { readonly message: MessageRow; readonly replayed: boolean } {
  const { store } = gateway;
  const { session_id, text, idempotency_key: key, role, caller } = request;
  findConversation(store, session_id);
  const { result, replayed } = store.transaction((tx) =>
    once(tx, { scope: `gateway:messages:${session_id}`, key, input: { text, role } }, () => {
      requireUnarchived(findConversation(tx, session_id));
      const message_id = gateway.newId();
      const subject = { session_id, worker_id: FIRST_WORKER, source: 'rest', evidence: 'protocol' } as const;
      const data = { message_id, kind: role, sender: caller.name, text, about: null };
      tx.append(fact('message.accepted', subject, data));
      return message_id;
    }),
  );
  const message = store.message(result);
  if (message === null) throw new Error(`message ${result} was not accepted`);
  return { message, replayed };
}
