import { OrchestratorError } from '../core/errors/error.js';
import type { GitRoom } from './git-room.js';
import { retryWhileIndexIsLocked } from './index-edits.js';
import { requireCommit } from './refs.js';

/** See Git.resetWorktree. */
export async function resetWorktree(room: GitRoom, worktree: string, commit: string): Promise<void> {
  const at = { worktree };
  const gitDirectory = (await room.run(['rev-parse', '--absolute-git-dir'], { at })).text;
  // Only a linked worktree has an entry in the common git directory; the user's checkout never ends like this.
  if (!/\/worktrees\/[^/]+$/.test(gitDirectory))
    throw new OrchestratorError('GIT_FAILED', {
      command: 'reset',
      problem: `${worktree} is not a worktree of agentorchestr`,
    });
  const target = await requireCommit(room, at, commit);
  await retryWhileIndexIsLocked(room, () =>
    room.run(['reset', '--hard', '--quiet', target], { at, timeoutMs: 300_000 }),
  );
  await room.run(['clean', '--force', '-d', '--quiet'], { at, timeoutMs: 300_000 });
}
