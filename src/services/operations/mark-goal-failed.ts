import { z } from 'zod';
import { EVERY_DOOR, LEAD_AND_PEOPLE, defineOperation } from '../operation.js';
import { markGoalFailed } from '../supervise/mark-goal.js';

export const markGoalFailedOperation = defineOperation({
  name: 'mark_goal_failed',
  summary: 'Give the goal up, with the reason.',
  effect: 'write',
  idempotent: false,
  scopes: LEAD_AND_PEOPLE,
  doors: EVERY_DOOR,
  positional: ['reason'],
  input: z.object({ reason: z.string().trim().min(1, 'it is empty').max(10_000) }),
  output: z.object({ acknowledged: z.boolean(), state: z.literal('failed') }),
  run: async ({ session }, { reason }) => {
    markGoalFailed(session, reason);
    return { acknowledged: true, state: 'failed' as const };
  },
});
