import { lstat, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isThere, namesIn } from '../platform/disk.js';
import type { LocatedWorktree } from './contract.js';
import { belongsTo, entryNamedBy, entryOf, realOr, worktreeEntries } from './worktree-entries.js';

/** See Git.locateWorktree. */
export async function locateWorktree({
  repository,
  path,
  branch,
}: {
  repository: string;
  path: string;
  branch: string | null;
}): Promise<LocatedWorktree> {
  const info = await lstat(path).catch(() => null);
  if (info !== null) return examine(repository, path, info.isDirectory());
  const entry = await entryOf(repository, path);
  if (entry !== null) {
    const beside = await besideIt(path, entry);
    return beside === null ? { state: 'gone' } : { state: 'present', path: beside };
  }
  const elsewhere = branch === null ? null : await pathOfBranch(repository, branch);
  if (elsewhere === null) return { state: 'none' };
  return (await isThere(elsewhere)) ? { state: 'moved', path: elsewhere } : { state: 'none' };
}

async function examine(repository: string, path: string, isFolder: boolean): Promise<LocatedWorktree> {
  if (!isFolder) return { state: 'broken', path, problem: 'something that is no folder is at its place' };
  const named = await entryNamedBy(path);
  if (named === null)
    return { state: 'broken', path, problem: 'it has no .git file any more, so git cannot read it' };
  if (!(await isThere(named)))
    return { state: 'broken', path, problem: 'its repository does not know it any more' };
  const [own, common] = [await realOr(dirname(dirname(named))), await realOr(repository)];
  return own === common
    ? { state: 'present', path }
    : { state: 'broken', path, problem: `it belongs to another repository: ${own}` };
}

/** Renamed by hand, but still among the folders of its session. */
async function besideIt(path: string, entry: string): Promise<string | null> {
  const parent = dirname(path);
  for (const name of await namesIn(parent)) {
    const folder = join(parent, name);
    if (await belongsTo(folder, entry)) return folder;
  }
  return null;
}

/** Where git knows a worktree on this branch. */
async function pathOfBranch(repository: string, branch: string): Promise<string | null> {
  for (const { entry, path } of await worktreeEntries(repository)) {
    const head = await readFile(join(entry, 'HEAD'), 'utf8').catch(() => '');
    if (head.trim() === `ref: refs/heads/${branch}`) return path;
  }
  return null;
}

/** See Git.locateRepository. */
export async function locateRepository(options: {
  recorded: string;
  worktrees: readonly string[];
}): Promise<string | null> {
  if (await isThere(join(options.recorded, 'objects'))) return options.recorded;
  for (const worktree of options.worktrees) {
    const entry = await entryNamedBy(worktree);
    if (entry === null || !(await isThere(entry))) continue;
    const repository = dirname(dirname(entry));
    if (await isThere(join(repository, 'objects'))) return repository;
  }
  return null;
}
