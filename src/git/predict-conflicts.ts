import { join } from 'node:path';
import type { Place } from './git-environment.js';
import type { GitRoom } from './git-room.js';
import { mergeTrees } from './merge-trees.js';
import { requireCommit } from './refs.js';
import { indexOfTree, withScratch, type Scratch } from './scratch.js';

/** See Git.predictConflicts. Even the objects of the trial merge go to a scratch folder. */
export async function predictConflicts(
  room: GitRoom,
  options: { repository: string; ours: string; theirs: string },
): Promise<readonly string[]> {
  const { repository } = options;
  const ours = await requireCommit(room, { repository }, options.ours);
  const theirs = await requireCommit(room, { repository }, options.theirs);
  return withScratch(room, repository, async (scratch) => {
    const attributesOf = await attributesTree(room, { repository, ours, scratch });
    const merged = await mergeTrees(room, {
      repository,
      ours,
      theirs,
      scratch,
      attributesOf,
      objects: scratch.objects,
    });
    return merged.clean ? [] : merged.conflicts;
  });
}

/** A working tree with nothing but the `.gitattributes` files of a commit. */
async function attributesTree(
  room: GitRoom,
  options: { repository: string; ours: string; scratch: Scratch },
): Promise<Place> {
  const { repository, ours, scratch } = options;
  const at = { gitDirectory: repository, workTree: join(scratch.directory, 'tree') };
  const index = await indexOfTree(room, { repository }, { scratch, tree: ours, env: {} });
  const env = { GIT_INDEX_FILE: index };
  const found = await room.run(['ls-files', '-z', '--', ':(top,glob)**/.gitattributes'], { at, env });
  if (found.raw !== '')
    await room.run(['checkout-index', '--quiet', '-z', '--stdin'], { at, env, input: found.raw });
  return at;
}
