import { z } from 'zod';
import { OrchestratorError } from '../../core/errors/error.js';
import { LEAD_ID, workerIdSchema } from '../../core/ids.js';
import { isLiveWorker } from '../../core/state/states.js';
import { EVERY_DOOR, LEAD_AND_PEOPLE, defineOperation } from '../operation.js';
import { findWorker, requireLive } from '../session-context.js';
import { killWorker } from '../supervise/kill-worker.js';

export const killWorkerOperation = defineOperation({
  name: 'kill_worker',
  summary: 'End a worker and everything it started; its worktree and branch stay.',
  effect: 'destroy',
  idempotent: true,
  scopes: LEAD_AND_PEOPLE,
  doors: EVERY_DOOR,
  positional: ['worker_id'],
  input: z.object({ worker_id: workerIdSchema, reason: z.string().default('killed by the lead') }),
  output: z.object({ killed: z.boolean(), worker_id: z.string(), survivors: z.array(z.number()) }),
  run: async ({ session, caller }, { worker_id, reason }) => {
    if (worker_id === LEAD_ID)
      throw new OrchestratorError('INVALID_INPUT', {
        field: 'worker_id',
        problem: 'the lead is not a worker',
      });
    requireLive(session);
    const { killed, survivors } = await killWorker(session, worker_id, { by: caller.name, reason });
    return {
      killed: killed || !isLiveWorker(findWorker(session, worker_id).state),
      worker_id,
      survivors: [...survivors],
    };
  },
});
