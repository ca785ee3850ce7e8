import { OrchestratorError } from '../../core/errors/error.js';
import { isLiveWorker, takesInstructions } from '../../core/state/states.js';
import type { MessageRow } from '../../core/state/rows.js';
import { hashOf } from '../../platform/ids.js';
import { acceptInstruction } from '../engine/instruct.js';
import { findWorker, requireLive, requireOpen, type SessionContext } from '../session-context.js';
import { checkLiveLimit, runLimits } from './limits.js';
import { withRoom } from './make-room.js';

/**
 * Accepts a message for a worker and returns its receipt at once; delivery is the engine's. Same key + same text
 * replays the receipt; same key + other text is IDEMPOTENCY_KEY_REUSED. Throws WORKER_NOT_RUNNING.
 */
export async function sendToWorker(
  session: SessionContext,
  request: { workerId: string; text: string; sender: string; idempotencyKey?: string | undefined },
): Promise<MessageRow> {
  const live = requireLive(session);
  requireOpen(session);
  const worker = findWorker(session, request.workerId);
  const text = request.text.trim() === '' ? null : request.text;
  if (text === null)
    throw new OrchestratorError('INVALID_INPUT', { field: 'message', problem: 'it is empty' });
  const { timeout_ms: timeoutMs } = worker.role === 'lead' ? {} : runLimits(live.plan, {});
  const accept = () =>
    session.store.transaction((tx) => {
      const scope = `send:${session.sessionId}`;
      const key = request.idempotencyKey;
      const hash = hashOf([request.workerId, text]);
      const known = key === undefined ? null : tx.recall(scope, key, hash);
      if (known !== null) return String(known.result);
      const current = tx.worker(session.sessionId, request.workerId) ?? worker;
      if (!isLiveWorker(current.state) && takesInstructions(current)) checkLiveLimit(session, live, tx);
      const accepted = acceptInstruction(session, tx, current, {
        kind: 'follow_up',
        text,
        sender: request.sender,
        source: 'mcp',
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
      });
      if (key !== undefined) tx.remember(scope, key, hash, accepted.messageId);
      return accepted.messageId;
    });
  const messageId = await withRoom(session, live, accept);
  live.engine.pump(worker.worker_id);
  const receipt = session.store.message(messageId);
  if (receipt === null) throw new Error(`message ${messageId} was not accepted`);
  return receipt;
}
