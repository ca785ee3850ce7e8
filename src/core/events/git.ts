import { z } from 'zod';
import { event } from './define.js';

const commandResult = z.object({
  label: z.string(),
  command: z.string(),
  exit_code: z.number().nullable().describe('null: killed at its time limit, or stopped'),
  stopped: z.boolean().optional().describe('true: broken off, because the session ended'),
  duration_ms: z.number(),
  tail: z.string(),
});
export type CommandResult = z.infer<typeof commandResult>;

/** Nothing is known of what was verified: whoever goes on verifies anew. */
export function wasStopped(results: readonly Pick<CommandResult, 'stopped'>[]): boolean {
  return results.some(({ stopped }) => stopped === true);
}

export const gitEvents = {
  'branch.created': event('A branch of ours and its worktree exist.', {
    branch: z.string(),
    worktree: z.string(),
    commit: z.string(),
  }),
  'branch.integrated': event(
    'The work of a worker is in the integration branch.',
    {
      worker: z.string(),
      branch: z.string(),
      worker_commit: z.string(),
      integration_commit: z.string(),
      strategy: z.enum(['merge', 'squash', 'cherry-pick']),
    },
    { synced: true },
  ),
  'conflict.predicted': event('A merge would conflict; no tree was touched.', {
    worker: z.string(),
    files: z.array(z.string()),
    sent_back: z.boolean(),
  }),
  'verify.started': event('Verification of one integration commit began.', {
    verify_id: z.string(),
    commit: z.string(),
    commands: z.array(z.string()),
  }),
  'verify.passed': event(
    'Every command exited 0 at exactly this commit. With no commands: `nothing_to_verify`.',
    {
      verify_id: z.string(),
      commit: z.string(),
      results: z.array(commandResult),
      nothing_to_verify: z.boolean(),
    },
    { synced: true },
  ),
  'verify.failed': event('A command failed, or the tree could not be prepared.', {
    verify_id: z.string(),
    commit: z.string(),
    results: z.array(commandResult),
    reason: z.string(),
  }),
  'work.salvaged': event(
    'Work that was not clean and integrated is kept under a ref before something destructive.',
    {
      worker: z.string(),
      ref: z.string(),
      commit: z.string(),
      submodules: z
        .array(z.object({ path: z.string(), repository: z.string(), ref: z.string() }))
        .optional()
        .describe('refs that keep its work in submodules, and the repositories they are in'),
    },
    { synced: true },
  ),
};
