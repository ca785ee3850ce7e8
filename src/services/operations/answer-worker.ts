import { z } from 'zod';
import { workerIdSchema } from '../../core/ids.js';
import { EVIDENCE } from '../../core/state/states.js';
import { LEAD_AND_PEOPLE, defineOperation } from '../operation.js';
import { answerWorker } from '../supervise/answer-worker.js';

export const answerWorkerOperation = defineOperation({
  name: 'answer_worker',
  summary:
    'Answer the prompt or question that a worker waits with, named by its prompt_hash from list_attention. Another prompt is never answered.',
  effect: 'write',
  idempotent: false,
  scopes: LEAD_AND_PEOPLE,
  leadOption: 'lead_may_answer',
  doors: { mcp: true, rest: true, cli: 'it is the command "answer", which can ask before it answers' },
  waits: true,
  input: z.object({
    worker_id: workerIdSchema,
    prompt_hash: z.string().min(1, 'it is empty').max(64).describe('of the prompt that is meant'),
    choice: z.number().int().min(1).max(99).optional().describe('the number of one of its choices'),
    text: z
      .string()
      .trim()
      .min(1, 'it is empty')
      .max(100_000)
      .optional()
      .describe('the answer to a question'),
    message: z.string().max(4_000).optional().describe('what the agent is told with a refusal'),
  }),
  output: z.object({
    answered: z.boolean(),
    worker_id: z.string(),
    evidence: z
      .enum(EVIDENCE)
      .describe('how we know: the agent took it itself, or the prompt left its screen'),
    message_id: z.string().nullable().describe('of the message that carries a text'),
  }),
  run: async ({ session, caller }, { worker_id, prompt_hash, choice, text, message }) => {
    const { evidence, messageId } = await answerWorker(session, {
      workerId: worker_id,
      promptHash: prompt_hash,
      choice,
      text,
      message,
      by: caller.scope === 'lead' ? 'lead' : 'person',
      sender: caller.name,
    });
    return { answered: true, worker_id, evidence, message_id: messageId };
  },
});
