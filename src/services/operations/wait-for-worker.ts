import { z } from 'zod';
import { OrchestratorError } from '../../core/errors/error.js';
import { workerIdSchema } from '../../core/ids.js';
import { EVERY_DOOR, LEAD_AND_PEOPLE, defineOperation } from '../operation.js';
import { waitForWorkers } from '../supervise/wait-for-workers.js';

const WAIT_MAX_S = 3_600;
const outcome = z.object({
  worker_id: z.string(),
  state: z
    .string()
    .describe('done, blocked, failed, killed, exited, orphaned, waiting, or timeout: still at it, ask again'),
  worker_state: z.string(),
  summary: z.string(),
  done: z.boolean(),
  waiting: z.object({ kind: z.string(), text: z.string() }).optional(),
});

export const waitForWorkerOperation = defineOperation({
  name: 'wait_for_worker',
  summary:
    'Wait until a worker (or any/all of several) has ended or waits for somebody. "timeout" means: ask again.',
  effect: 'read',
  idempotent: true,
  waits: true,
  scopes: LEAD_AND_PEOPLE,
  doors: EVERY_DOOR,
  positional: ['worker_id'],
  input: z.object({
    worker_id: workerIdSchema.optional(),
    worker_ids: z.array(workerIdSchema).min(1).optional(),
    mode: z.enum(['any', 'all']).default('all'),
    timeout_s: z.coerce.number().int().min(1).max(WAIT_MAX_S).default(300),
  }),
  output: outcome.partial().extend({
    ask_again: z.boolean(),
    results: z.array(outcome).optional().describe('with worker_ids: one entry per worker'),
  }),
  run: async ({ session, caller, signal, progress }, input) => {
    const ids = [
      ...new Set([...(input.worker_id === undefined ? [] : [input.worker_id]), ...(input.worker_ids ?? [])]),
    ];
    if (ids.length === 0)
      throw new OrchestratorError('INVALID_INPUT', {
        field: 'worker_id',
        problem: 'give worker_id or worker_ids',
      });
    const results = await waitForWorkers(
      session,
      { workerIds: ids, mode: input.mode, timeoutMs: input.timeout_s * 1_000 },
      caller,
      signal,
      progress,
    );
    const pending = results.filter((result) => result.state === 'timeout').length;
    const ask_again = input.mode === 'any' ? pending === results.length : pending > 0;
    const [only] = results;
    return input.worker_ids === undefined && only !== undefined
      ? { ...only, ask_again }
      : { ask_again, results };
  },
});
