import { z } from 'zod';
import { EXECUTORS, RUN_STATES, type RunState } from '../../../core/state/states.js';

/** Fields that several operations take or give. */
/** Opaque: one that cannot be any is simply not found. */
const id = z.string().min(1).max(200);
export const sessionId = id.describe('id of the session');
export const runId = id.describe('id of the run');

export const text = z
  .string()
  .max(256_000)
  .refine((given) => given.trim() !== '', 'it is empty');

export const idempotencyKey = z
  .string()
  .regex(/^[\x20-\x7e]{1,200}$/, 'a key is 1 to 200 printable characters')
  .describe('the same key with the same request is answered again, and nothing is done twice')
  .optional();

export const replay = z
  .literal(true)
  .optional()
  .describe('there when the key was known: nothing was done this time');

export const replayed = (was: boolean): { idempotent_replay?: true } =>
  was ? { idempotent_replay: true } : {};

export const providers = z
  .array(z.string().min(1).max(100))
  .min(1)
  .max(10)
  .optional()
  .describe(
    'instead of provider: several, in order; each run begins with the first, and the next is asked where one is not there, not logged in or at its limit before it has said or done anything',
  );

export const timeoutS = z.coerce
  .number()
  .int()
  .min(0)
  .max(604_800)
  .optional()
  .describe('of running time, then it ends as timed out; 0: no limit');

export const executor = z
  .enum(EXECUTORS)
  .default('pool')
  .describe('external: no agent of ours begins it; whoever does it says so with transition_run');

const count = z.number().int();
/** `queued_count` … `interrupted_count`: how many runs are in each state. */
export const queueCountsSchema = z.object({
  ...(Object.fromEntries(RUN_STATES.map((state) => [`${state}_count`, count])) as {
    [State in RunState as `${State}_count`]: typeof count;
  }),
  cancelling_count: count.describe('those of the running ones that were asked to end'),
});
