import { z } from 'zod';
import { OrchestratorError } from '../../core/errors/error.js';
import { WORKER_DOORS, callingWorker, defineOperation } from '../operation.js';
import { requireLive } from '../session-context.js';

export const askLeadOperation = defineOperation({
  name: 'ask_lead',
  summary: 'Ask the lead a question. Returns at once: end your turn, the answer comes as a message.',
  effect: 'write',
  idempotent: false,
  scopes: ['worker'],
  doors: WORKER_DOORS,
  input: z.object({ question: z.string().trim().min(1, 'it is empty').max(4_000) }),
  output: z.object({ asked: z.boolean(), next: z.string() }),
  run: async (context, { question }) => {
    const worker = callingWorker(context);
    if (!requireLive(context.session).engine.ask(worker, question))
      throw new OrchestratorError('NOTHING_TO_ANSWER', { worker });
    return { asked: true, next: 'end your turn now; the answer comes as a message' };
  },
});
