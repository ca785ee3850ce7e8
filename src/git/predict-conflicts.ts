import type { GitRoom } from './git-room.js';
import { mergeTrees } from './merge-trees.js';
import { requireCommit } from './refs.js';
import { withScratch } from './scratch.js';

/** See Git.predictConflicts. Even the objects of the trial merge go to a scratch folder. */
export async function predictConflicts(
  room: GitRoom,
  options: { repository: string; ours: string; theirs: string },
): Promise<readonly string[]> {
  const at = { repository: options.repository };
  const ours = await requireCommit(room, at, options.ours);
  const theirs = await requireCommit(room, at, options.theirs);
  return withScratch(room, options.repository, async (scratch) => {
    const merged = await mergeTrees(room, { ...options, ours, theirs, scratch, objects: scratch.objects });
    return merged.clean ? [] : merged.conflicts;
  });
}
