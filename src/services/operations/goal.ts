import { join } from 'node:path';
import { z } from 'zod';
import { isoTime } from '../../core/clock.js';
import { workerIdSchema } from '../../core/ids.js';
import { appendLine } from '../../platform/files.js';
import { fact } from '../engine/deps.js';
import { defineOperation } from '../operation.js';
import { requireLive, requireOpen } from '../session-context.js';
import { markGoalDone, markGoalFailed } from '../supervise/mark-goal.js';

const scopes = ['lead', 'client', 'admin'] as const;
const everywhere = { mcp: true, rest: true, cli: true } as const;

export const reportProgressOperation = defineOperation({
  name: 'report_progress',
  summary: 'Note progress in one sentence; the person sees it.',
  effect: 'write',
  idempotent: false,
  scopes,
  doors: everywhere,
  positional: ['message'],
  input: z.object({ message: z.string().trim().min(1, 'it is empty').max(2_000) }),
  output: z.object({ logged: z.boolean() }),
  run: async ({ session, caller }, { message }) => {
    requireLive(session);
    requireOpen(session);
    const line = session.redact(message).replace(/\s+/g, ' ');
    session.store.append(
      fact('progress.reported', { session_id: session.sessionId, source: 'mcp', evidence: 'protocol' }, { message: line }),
    );
    await appendLine(join(session.places.directory, 'progress.log'), `${isoTime(session.clock)} ${caller.name}: ${line}`);
    return { logged: true };
  },
});

export const markGoalDoneOperation = defineOperation({
  name: 'mark_goal_done',
  summary: 'Declare the goal reached. Refused while workers run, work is not integrated, or the last verify did not pass at this very commit.',
  effect: 'write',
  idempotent: false,
  scopes,
  doors: everywhere,
  positional: ['summary'],
  input: z.object({
    summary: z.string().trim().min(1, 'it is empty').max(10_000),
    discard: z
      .array(z.object({ worker: workerIdSchema, reason: z.string().trim().min(1, 'give a reason') }))
      .default([])
      .describe('finished workers whose work is left out on purpose'),
    force: z.boolean().default(false).describe('override a missing verification; needs force_reason and is recorded'),
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

export const markGoalFailedOperation = defineOperation({
  name: 'mark_goal_failed',
  summary: 'Give the goal up, with the reason.',
  effect: 'write',
  idempotent: false,
  scopes,
  doors: everywhere,
  positional: ['reason'],
  input: z.object({ reason: z.string().trim().min(1, 'it is empty').max(10_000) }),
  output: z.object({ acknowledged: z.boolean(), state: z.literal('failed') }),
  run: async ({ session }, { reason }) => {
    markGoalFailed(session, reason);
    return { acknowledged: true, state: 'failed' as const };
  },
});
