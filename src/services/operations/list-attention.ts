import { z } from 'zod';
import { LEAD_AND_PEOPLE, defineOperation } from '../operation.js';
import { attention, attentionItem } from '../supervise/attention.js';

export const listAttentionOperation = defineOperation({
  name: 'list_attention',
  summary:
    'List what waits for somebody: prompts and questions of workers with their answers, and what went astray.',
  effect: 'read',
  idempotent: true,
  scopes: LEAD_AND_PEOPLE,
  leadOption: 'lead_may_answer',
  doors: { mcp: true, rest: true, cli: 'it is the command "attention", which shows how to answer' },
  input: z.object({}),
  output: z.object({ items: z.array(attentionItem) }),
  run: async ({ session }) => ({
    items: attention(session.store, session.sessionId, session.clock.now()),
  }),
});
