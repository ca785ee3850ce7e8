import { z } from 'zod';
import { WORKER_DOORS, callingWorker, defineOperation } from '../operation.js';
import { reportByWorker } from '../supervise/report-by-worker.js';

export const reportDoneOperation = defineOperation({
  name: 'report_done',
  summary: 'Report that your task is finished and committed.',
  effect: 'write',
  idempotent: true,
  scopes: ['worker'],
  doors: WORKER_DOORS,
  input: z.object({ summary: z.string().trim().min(1, 'say in a sentence what you did').max(4_000) }),
  output: z.object({ accepted: z.boolean(), state: z.string(), next: z.string() }),
  run: async (context, { summary }) => {
    await reportByWorker(context.session, callingWorker(context), { state: 'succeeded', summary });
    return { accepted: true, state: 'done', next: 'end your turn now' };
  },
});
