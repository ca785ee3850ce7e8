import { z } from 'zod';
import { workerIdSchema } from '../../core/ids.js';
import { EVERY_DOOR, LEAD_AND_PEOPLE, defineOperation } from '../operation.js';
import { requireOpen } from '../session-context.js';
import { integrateWorker } from '../supervise/integrate-worker.js';

export const integrateWorkerOperation = defineOperation({
  name: 'integrate_worker',
  summary:
    "Merge a finished worker's branch into the integration branch; a conflict is returned or sent back, never left in a tree.",
  effect: 'write',
  idempotent: true,
  scopes: LEAD_AND_PEOPLE,
  doors: EVERY_DOOR,
  positional: ['worker_id'],
  input: z.object({
    worker_id: workerIdSchema,
    strategy: z.enum(['merge', 'squash', 'cherry-pick']).default('merge'),
    on_conflict: z
      .enum(['report', 'worker'])
      .default('report')
      .describe('worker: send it back to be resolved'),
    commit: z
      .stringbool()
      .or(z.boolean())
      .default(false)
      .describe('commit the uncommitted work of the worker first'),
  }),
  output: z.object({
    merged: z.boolean(),
    worker_id: z.string(),
    commit: z.string().nullable(),
    conflicts: z.array(z.string()),
    sent_back: z.boolean(),
    tip: z.string(),
  }),
  run: async ({ session, caller }, input) => {
    requireOpen(session);
    const { merged, commit, conflicts, sentBack, isEmpty } = await integrateWorker(session, {
      workerId: input.worker_id,
      strategy: input.strategy,
      onConflict: input.on_conflict,
      commit: input.commit,
      sender: caller.name,
    });
    const tip = merged
      ? 'integrated; verify when all are in'
      : isEmpty
        ? `nothing to integrate: ${input.worker_id} committed nothing; list_workers says what became of its run`
        : sentBack
          ? 'the worker resolves it: wait_for_worker, then integrate_worker again'
          : 'call again with on_conflict:"worker" to send it back to the worker';
    return {
      merged,
      worker_id: input.worker_id,
      commit,
      conflicts: [...conflicts],
      sent_back: sentBack,
      tip,
    };
  },
});
