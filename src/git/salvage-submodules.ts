import { join } from 'node:path';
import { isThere } from '../platform/disk.js';
import type { SalvageOptions, SalvageResult } from './contract.js';
import type { GitRoom } from './git-room.js';
import { SCRATCH_IDENTITY } from './identity.js';
import { isAncestor, requireCommit, resolveCommit, treeOf } from './refs.js';
import { commitTree, snapshotTree, withScratch } from './scratch.js';
import { populatedSubmodules } from './submodules.js';

export interface KeptSubmodules {
  readonly kept: SalvageResult['submodules'];
  readonly found: boolean;
  readonly notKept: readonly string[];
}

/**
 * A submodule of a worktree is a repository of its own that goes with it: its work is fetched into the user's one, under
 * our ref. Where the user has none (an agent initialised it), the repository around it takes it, under a ref beside ours.
 */
export async function salvageSubmodules(room: GitRoom, options: SalvageOptions): Promise<KeptSubmodules> {
  const notKept: string[] = [];
  const kept: { path: string; repository: string; ref: string }[] = [];
  for (const { folder, source, path } of await populatedSubmodules(room, options)) {
    const users = await isThere(join(source, 'objects'));
    const target = users
      ? { repository: source, ref: options.ref }
      : {
          repository: options.repository,
          ref: `${options.ref}.sub/${path.replaceAll(/[^\w/.-]|\.\.|\.lock/g, '_')}`,
        };
    try {
      const ref = await salvageOne(room, { folder, ...target, dryRun: options.dryRun === true });
      if (ref !== null) kept.push({ path, repository: target.repository, ref });
    } catch (error) {
      room.logger.warn({ err: error, submodule: folder }, 'the work in a submodule could not be kept');
      notKept.push(path);
    }
  }
  return { kept, found: kept.length > 0, notKept };
}

/** The ref that keeps it; null when it holds nothing of its own. */
async function salvageOne(
  room: GitRoom,
  work: { folder: string; repository: string; ref: string; dryRun: boolean },
): Promise<string | null> {
  const { folder, repository } = work;
  const at = { worktree: folder };
  const head = await requireCommit(room, at, 'HEAD');
  const stays = { repository };
  return withScratch(room, repository, async (scratch) => {
    const snapshot = await snapshotTree(room, folder, {
      scratch,
      objects: null,
      tolerant: true,
    });
    if (snapshot.embedded.length > 0 || snapshot.incomplete)
      throw new Error('some of its files cannot be kept');
    const dirty = snapshot.tree !== (await treeOf(room, at, head));
    const isKnown = (await resolveCommit(room, stays, head)) !== null;
    if (!dirty && isKnown && (await isOnSomeRef(room, repository, head))) return null;
    if (work.dryRun) return work.ref;
    const ref = await refFor(room, work, { head, tree: dirty ? snapshot.tree : null });
    if (ref === null) return work.ref;
    const message = `Kept from ${folder}\n`;
    const commit = dirty
      ? await commitTree(room, at, { tree: snapshot.tree, parents: [head], message, env: SCRATCH_IDENTITY })
      : head;
    await room.run(['update-ref', ref, commit], { at });
    await room.run(['fetch', '--quiet', '--no-tags', '--', folder, `${ref}:${ref}`], { at: stays });
    return ref;
  });
}

async function isOnSomeRef(room: GitRoom, repository: string, commit: string): Promise<boolean> {
  const args = ['rev-list', '--max-count=1', commit, '--not', '--all', 'HEAD'];
  const found = await room.run(args, { at: { repository }, answers: [0, 128] });
  return found.code === 0 && found.text === '';
}

/** A name that is free; null when what is kept there already is the same. */
async function refFor(
  room: GitRoom,
  work: { repository: string; ref: string },
  wanted: { head: string; tree: string | null },
): Promise<string | null> {
  const at = { repository: work.repository };
  for (let number = 1; ; number += 1) {
    const ref = number === 1 ? work.ref : `${work.ref}-${number}`;
    const earlier = await resolveCommit(room, at, ref);
    if (earlier === null) return ref;
    const hasHead =
      (await resolveCommit(room, at, wanted.head)) !== null &&
      (await isAncestor(room, at, wanted.head, earlier));
    if (hasHead && (wanted.tree === null || (await treeOf(room, at, earlier)) === wanted.tree)) return null;
  }
}
