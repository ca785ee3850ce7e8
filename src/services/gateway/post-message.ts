import { OrchestratorError } from '../../core/errors/error.js';
import type { MessageRow, RunRow } from '../../core/state/rows.js';
import { acceptInstruction } from '../engine/instruct.js';
import { findConversation, requireUnarchived } from './conversation-row.js';
import { FIRST_WORKER } from './create-conversation.js';
import type { Gateway } from './gateway.js';
import { once } from './once.js';

export interface MessageRequest {
  /** The operation by which it came: a key of one is not a key of another. */
  readonly by: 'messages' | 'runs';
  readonly session_id: string;
  readonly text: string;
  readonly timeout_s?: number | undefined;
  readonly idempotency_key?: string | undefined;
  readonly sender: string;
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
  const { session_id: sessionId, text } = request;
  findConversation(store, sessionId);
  const engine = await gateway.conversations.engine(sessionId);
  const { result, replayed } = store.transaction((tx) => {
    const { by, idempotency_key: key, timeout_s: timeoutS } = request;
    const keyed = { scope: `gateway:${by}:${sessionId}`, key, input: { text, timeout_s: timeoutS ?? null } };
    return once(tx, keyed, () => {
      requireUnarchived(findConversation(tx, sessionId));
      const worker = tx.worker(sessionId, FIRST_WORKER);
      if (worker === null) throw new Error(`conversation ${sessionId} has no worker`);
      const timeoutMs = timeoutS === undefined ? settings.runTimeoutMs : timeoutS * 1_000;
      const { messageId, runId } = acceptInstruction(
        { sessionId, newId: () => gateway.newId() },
        tx,
        worker,
        {
          kind: worker.last_run_id === null ? 'task' : 'follow_up',
          ...{ text, sender: request.sender, source: 'rest' },
          ...(timeoutMs === null || timeoutMs === 0 ? {} : { timeoutMs }),
        },
      );
      return { message_id: messageId, run_id: runId };
    });
  });
  engine.pump(FIRST_WORKER);
  const message = store.message(result.message_id);
  if (message === null) throw new Error(`message ${result.message_id} was not accepted`);
  return { message, run: findRun(gateway, result.run_id), replayed };
}

/** Throws RUN_NOT_FOUND, also for a run of a session of another kind. */
export function findRun({ store }: Pick<Gateway, 'store'>, runId: string): RunRow {
  const run = store.run(runId);
  if (run !== null && store.session(run.session_id)?.kind === 'conversation') return run;
  throw new OrchestratorError('RUN_NOT_FOUND', { run: runId });
}
