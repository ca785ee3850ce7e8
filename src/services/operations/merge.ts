import { z } from 'zod';
import { defineOperation, PEOPLE } from '../operation.js';
import { mergeSession } from '../supervise/merge-session.js';

export const mergeOperation = defineOperation({
  name: 'merge',
  summary: 'Bring the result of a session that is over into your checkout, when that is safe.',
  effect: 'write',
  idempotent: true,
  scopes: PEOPLE,
  doors: { mcp: "the user's checkout is the person's", rest: true, cli: true },
  input: z.object({
    anyway: z
      .boolean()
      .default(false)
      .describe('also when the goal was not reached: what was integrated by then, verified or not'),
  }),
  output: z.object({
    session_id: z.string(),
    how: z.string(),
    already: z.boolean().describe('it was there before'),
    branch: z.string(),
    commit: z.string(),
  }),
  run: async ({ session }, input) => ({
    session_id: session.sessionId,
    ...(await mergeSession(session, input)),
  }),
});
