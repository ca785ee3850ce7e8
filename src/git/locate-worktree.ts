import { lstat, readdir, readFile, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { LocatedWorktree } from './contract.js';
import type { GitRoom } from './git-room.js';
import { belongsTo, entryOf } from './worktree-attempt.js';

/** See Git.locateWorktree. */
export async function locateWorktree(
  _room: GitRoom,
  options: { repository: string; path: string; branch: string | null },
): Promise<LocatedWorktree> {
  const { repository, path, branch } = options;
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
  const [own, common] = [await real(dirname(dirname(named))), await real(repository)];
  return own === common
    ? { state: 'present', path }
    : { state: 'broken', path, problem: `it belongs to another repository: ${own}` };
}

/** The entry that the folder's `.git` file names; null when there is no such file. */
async function entryNamedBy(folder: string): Promise<string | null> {
  const text = await readFile(join(folder, '.git'), 'utf8').catch(() => null);
  if (text === null || !text.startsWith('gitdir: ')) return null;
  return resolve(folder, text.slice('gitdir: '.length).replace(/\n$/, ''));
}

/** Renamed by hand, but still among the folders of its session. */
async function besideIt(path: string, entry: string): Promise<string | null> {
  const parent = dirname(path);
  for (const name of await readdir(parent).catch(() => [])) {
    const folder = join(parent, name);
    if (await belongsTo(folder, entry)) return folder;
  }
  return null;
}

/** Where git knows a worktree on this branch. */
async function pathOfBranch(repository: string, branch: string): Promise<string | null> {
  for (const id of await readdir(join(repository, 'worktrees')).catch(() => [])) {
    const entry = join(repository, 'worktrees', id);
    const head = await readFile(join(entry, 'HEAD'), 'utf8').catch(() => '');
    if (head.trim() !== `ref: refs/heads/${branch}`) continue;
    const registered = await readFile(join(entry, 'gitdir'), 'utf8').catch(() => '');
    return dirname(resolve(entry, registered.replace(/\n$/, '')));
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

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null;
}

function real(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}
