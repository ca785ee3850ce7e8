import { z } from 'zod';
import { EVERY_DOOR, LEAD_AND_PEOPLE, defineOperation } from '../operation.js';
import { reportWorker, workerReport } from '../supervise/session-report.js';

export const listWorkersOperation = defineOperation({
  name: 'list_workers',
  summary: 'List every worker of the session with its state, summary and task.',
  effect: 'read',
  idempotent: true,
  scopes: LEAD_AND_PEOPLE,
  doors: EVERY_DOOR,
  input: z.object({}),
  output: z.object({ workers: z.array(workerReport) }),
  run: async ({ session }) => ({
    workers: session.store
      .workers(session.sessionId)
      .filter((worker) => worker.role === 'worker')
      .map((worker) => reportWorker(session.store, worker)),
  }),
});
