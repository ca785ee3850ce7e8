import { z } from 'zod';
import { WORKER_DOORS, callingWorker, defineOperation } from '../operation.js';
import { reportByWorker } from '../supervise/report-by-worker.js';

export const reportBlockedOperation = defineOperation({
  name: 'report_blocked',
  summary: 'Report that you cannot go on, and why.',
  effect: 'write',
  idempotent: true,
  scopes: ['worker'],
  doors: WORKER_DOORS,
  input: z.object({ reason: z.string().trim().min(1, 'say why').max(4_000) }),
  output: z.object({ accepted: z.boolean(), state: z.string(), next: z.string() }),
  run: async (context, { reason }) => {
    await reportByWorker(context.session, callingWorker(context), { state: 'blocked', summary: reason });
    return { accepted: true, state: 'blocked', next: 'end your turn now' };
  },
});
