import { z } from 'zod';
import { workerIdSchema } from '../../core/ids.js';
import { EVERY_DOOR, LEAD_AND_PEOPLE, defineOperation } from '../operation.js';
import { crossReview } from '../supervise/cross-review.js';

export const crossReviewOperation = defineOperation({
  name: 'cross_review',
  summary: "Let two workers review each other's diff; returns at once.",
  effect: 'write',
  idempotent: false,
  scopes: LEAD_AND_PEOPLE,
  doors: EVERY_DOOR,
  positional: ['worker_a', 'worker_b'],
  input: z.object({
    worker_a: workerIdSchema,
    worker_b: workerIdSchema,
    focus: z.string().min(1).default('correctness'),
  }),
  output: z.object({
    review_started: z.boolean(),
    reviewers: z.array(z.object({ reviewer: z.string(), reviews: z.string(), fresh: z.boolean() })),
    tip: z.string(),
  }),
  run: async ({ session, caller }, { worker_a, worker_b, focus }) => ({
    review_started: true,
    reviewers: await crossReview(session, {
      workerA: worker_a,
      workerB: worker_b,
      focus,
      sender: caller.name,
    }),
    tip: 'wait_for_worker on the reviewers; their concerns are in the summaries',
  }),
});
