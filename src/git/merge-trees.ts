import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment, Place } from './git-environment.js';
import type { GitRoom } from './git-room.js';
import { SCRATCH_IDENTITY } from './identity.js';
import { splitZ } from './run-git.js';
import { commitTree, type Scratch } from './scratch.js';
import { treeOf } from './refs.js';

export type MergedTree =
  | { readonly clean: true; readonly tree: string }
  | { readonly clean: false; readonly conflicts: readonly string[] };

export interface MergeOptions {
  readonly repository: string;
  readonly scratch: Scratch;
  readonly ours: string;
  readonly theirs: string;
  /** Merge drivers and text attributes come from the `.gitattributes` files lying in this working tree, which is only read. */
  readonly attributesOf: Place;
  /** null: the objects of the merge stay in the repository; else they go where this points. */
  readonly objects: Environment | null;
}

/** The tree of merging two commits, or the files that conflict. No working tree, index or ref is touched. */
export async function mergeTrees(room: GitRoom, options: MergeOptions): Promise<MergedTree> {
  const { version } = await room.tools();
  return version >= 238 ? mergeInMemory(room, options) : mergeInScratchTree(room, options);
}

async function mergeInMemory(room: GitRoom, options: MergeOptions): Promise<MergedTree> {
  const args = [
    'merge-tree',
    '--write-tree',
    '-z',
    '--name-only',
    '--no-messages',
    options.ours,
    options.theirs,
  ];
  const call = { at: options.attributesOf, env: options.objects ?? {}, answers: [0, 1], timeoutMs: 300_000 };
  const merged = await room.run(args, call);
  const [tree = '', ...conflicts] = splitZ(merged.raw);
  return merged.code === 0
    ? { clean: true, tree }
    : { clean: false, conflicts: [...new Set(conflicts)].sort() };
}

/** For gits before 2.38: a real merge in a throw-away repository that borrows the objects. Slow, but it touches nothing either. */
async function mergeInScratchTree(room: GitRoom, options: MergeOptions): Promise<MergedTree> {
  const { scratch, ours, theirs, repository } = options;
  const folder = join(scratch.directory, `merge-${ours.slice(0, 12)}-${theirs.slice(0, 12)}`);
  await mkdir(folder, { recursive: true });
  const at = { worktree: folder };
  await room.run(['init', '--quiet', '--template='], { at });
  await mkdir(join(folder, '.git', 'objects', 'info'), { recursive: true });
  const borrowed = [join(repository, 'objects'), options.objects?.['GIT_OBJECT_DIRECTORY']].filter(
    (path) => path !== undefined,
  );
  await writeFile(join(folder, '.git', 'objects', 'info', 'alternates'), `${borrowed.join('\n')}\n`);
  const env = {
    ...SCRATCH_IDENTITY,
    ...(options.objects ?? { GIT_OBJECT_DIRECTORY: join(repository, 'objects') }),
  };
  await room.run(['update-ref', '--no-deref', 'HEAD', ours], { at, env });
  await room.run(['reset', '--hard', '--quiet'], { at, env, timeoutMs: 300_000 });
  const merged = await room.run(['merge', '--quiet', '--no-commit', '--no-ff', theirs], {
    at,
    env,
    answers: [0, 1],
    timeoutMs: 300_000,
  });
  const conflicts = splitZ(
    (await room.run(['diff', '--name-only', '--diff-filter=U', '-z'], { at, env })).raw,
  );
  if (merged.code !== 0 && conflicts.length === 0)
    await room.run(['merge', '--quiet', '--no-commit', '--no-ff', theirs], { at, env });
  if (conflicts.length > 0) return { clean: false, conflicts: [...new Set(conflicts)].sort() };
  return { clean: true, tree: (await room.run(['write-tree'], { at, env })).text };
}

/**
 * The tree of applying what one commit changed (against `parent`) on top of another. merge-tree finds its base by
 * history, so our side is given as a commit that has the wanted base as its parent.
 */
export async function applyCommit(
  room: GitRoom,
  options: MergeOptions & { parent: string },
): Promise<MergedTree> {
  const at: Place = { repository: options.repository };
  const env = { ...SCRATCH_IDENTITY, ...options.objects };
  const tree = await treeOf(room, at, options.ours);
  const ours = await commitTree(room, at, { tree, parents: [options.parent], message: 'ours\n', env });
  return mergeTrees(room, { ...options, ours });
}
