import { z } from 'zod';
import { workerIdSchema } from '../../core/ids.js';
import { EVERY_DOOR, LEAD_AND_PEOPLE, defineOperation } from '../operation.js';
import { markGoalDone } from '../supervise/mark-goal.js';

export const markGoalDoneOperation = defineOperation({
  name: 'mark_goal_done',
  summary:
    'Declare the goal reached. Refused while workers run, work is not integrated, or the last verify did not pass at this very commit.',
  effect: 'write',
  idempotent: false,
  scopes: LEAD_AND_PEOPLE,
  doors: EVERY_DOOR,
  positional: ['summary'],
  input: z.object({
    summary: z.string().trim().min(1, 'it is empty').max(10_000),
    discard: z
      .array(z.object({ worker: workerIdSchema, reason: z.string().trim().min(1, 'give a reason') }))
      .default([])
      .describe('finished workers whose work is left out on purpose'),
    force: z
      .boolean()
      .default(false)
      .describe('override a missing verification; needs force_reason and is recorded'),
    force_reason: z.string().default(''),
  }),
  output: z.object({ acknowledged: z.boolean(), state: z.literal('done') }),
  run: async ({ session }, input) => {
    await markGoalDone(session, {
      summary: input.summary,
      discard: input.discard,
      force: input.force,
      forceReason: input.force_reason,
    });
    return { acknowledged: true, state: 'done' as const };
  },
});
