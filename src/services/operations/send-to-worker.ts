import { z } from 'zod';
import { OrchestratorError } from '../../core/errors/error.js';
import { LEAD_ID, workerIdSchema } from '../../core/ids.js';
import { EVERY_DOOR, LEAD_AND_PEOPLE, defineOperation } from '../operation.js';
import { sendToWorker } from '../supervise/send-to-worker.js';

export const sendToWorkerOperation = defineOperation({
  name: 'send_to_worker',
  summary:
    'Send a message to a worker: an answer to its question, or a follow-up task in the same conversation.',
  effect: 'write',
  idempotent: false,
  scopes: LEAD_AND_PEOPLE,
  doors: EVERY_DOOR,
  positional: ['worker_id', 'message'],
  input: z.object({
    worker_id: workerIdSchema,
    message: z.string().min(1, 'it is empty').max(1_000_000),
    idempotency_key: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('the same key with the same text replays the receipt'),
  }),
  output: z.object({
    sent: z.boolean().describe('true: accepted, and delivered in its turn; state says how far it is'),
    worker_id: z.string(),
    message_id: z.string(),
    run_id: z.string().nullable(),
    state: z
      .string()
      .describe('accepted, queued, held, typed, submitted, started, answered, unconfirmed or refused'),
    detail: z.string().nullable(),
  }),
  run: async ({ session, caller }, { worker_id, message, idempotency_key }) => {
    if (worker_id === LEAD_ID && caller.scope === 'lead')
      throw new OrchestratorError('INVALID_INPUT', {
        field: 'worker_id',
        problem: 'the lead cannot send to itself',
      });
    const receipt = await sendToWorker(session, {
      workerId: worker_id,
      text: message,
      sender: caller.name,
      idempotencyKey: idempotency_key,
    });
    return {
      sent: receipt.state !== 'refused',
      worker_id,
      message_id: receipt.message_id,
      run_id: receipt.run_id,
      state: receipt.state,
      detail: receipt.detail,
    };
  },
});
