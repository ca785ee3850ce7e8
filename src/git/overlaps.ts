import type { Overlap } from './contract.js';
import { differingPaths } from './diff-worktree.js';
import type { GitRoom } from './git-room.js';
import { SCRATCH_IDENTITY } from './identity.js';
import { mergeTrees } from './merge-trees.js';
import { mergeBase, requireCommit } from './refs.js';
import { commitTree, snapshotTree, withScratch, type Scratch } from './scratch.js';

interface Side {
  readonly id: string;
  readonly worktree: string;
  /** HEAD plus everything uncommitted, as a commit nobody ever sees. */
  readonly commit: string;
  readonly files: ReadonlySet<string>;
}

/** See Git.overlaps. Only pairs that touch something in common are returned. */
export async function overlaps(
  room: GitRoom,
  options: { repository: string; base: string; trees: readonly { id: string; worktree: string }[] },
): Promise<readonly Overlap[]> {
  const { repository } = options;
  return withScratch(room, repository, async (scratch) => {
    const sides: Side[] = [];
    for (const tree of options.trees)
      sides.push(await sideOf(room, scratch, { ...tree, base: options.base }));
    const found: Overlap[] = [];
    for (const [index, a] of sides.entries())
      for (const b of sides.slice(index + 1)) {
        if (a.files.size === 0 || b.files.size === 0) continue;
        const merged = await mergeTrees(room, {
          repository,
          scratch,
          ours: a.commit,
          theirs: b.commit,
          attributesOf: { worktree: a.worktree },
          objects: scratch.objects,
        });
        const files = [...a.files].filter((path) => b.files.has(path)).sort();
        const conflicts = merged.clean ? [] : merged.conflicts;
        if (files.length > 0 || conflicts.length > 0) found.push({ a: a.id, b: b.id, files, conflicts });
      }
    return found;
  });
}

async function sideOf(
  room: GitRoom,
  scratch: Scratch,
  tree: { id: string; worktree: string; base: string },
): Promise<Side> {
  const at = { worktree: tree.worktree };
  const env = { ...SCRATCH_IDENTITY, ...scratch.objects };
  const head = await requireCommit(room, at, 'HEAD');
  const snapshot = await snapshotTree(room, tree.worktree, {
    scratch,
    objects: scratch.objects,
    tolerant: true,
  });
  const commit = await commitTree(room, at, {
    tree: snapshot.tree,
    parents: [head],
    message: `${tree.id}\n`,
    env,
  });
  const from = (await mergeBase(room, at, tree.base, head)) ?? tree.base;
  return {
    id: tree.id,
    worktree: tree.worktree,
    commit,
    files: new Set(await differingPaths(room, at, { from, to: snapshot.tree, env })),
  };
}
