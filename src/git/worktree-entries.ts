import { readFile, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { namesIn } from '../platform/disk.js';

/**
 * Git's own notes of worktrees, read as files: an answer in a millisecond, and one that broken entries do not spoil. Links
 * may be relative to where they stand: newer gits write such ones where the user wants it so.
 */
export interface WorktreeEntry {
  /** `<repository>/worktrees/<id>`. */
  readonly entry: string;
  /** The folder that git believes the worktree in; null where the entry does not say. */
  readonly path: string | null;
}

/** Every worktree that a repository (its common git directory) has an entry for. */
export async function worktreeEntries(repository: string): Promise<readonly WorktreeEntry[]> {
  const entries = await entriesOf(repository);
  return Promise.all(entries.map(async (entry) => ({ entry, path: await pathOf(entry) })));
}

/** Their folders alone. */
export async function entriesOf(repository: string): Promise<readonly string[]> {
  const folder = join(repository, 'worktrees');
  return (await namesIn(folder)).map((id) => join(folder, id));
}

/** The folder that an entry is of; null where it does not say. */
export async function pathOf(entry: string): Promise<string | null> {
  const link = await lineOf(join(entry, 'gitdir'));
  return link === '' ? null : dirname(resolve(entry, link));
}

/** Whether it is one of this repository's. */
export async function isEntryOf(repository: string, entry: string): Promise<boolean> {
  return (await realOr(dirname(entry))) === (await realOr(join(repository, 'worktrees')));
}

/** The entry registered for a path; null when there is none. */
export async function entryOf(repository: string, path: string): Promise<string | null> {
  const real = await realpath(path).catch(() => path);
  const found = (await worktreeEntries(repository)).find((one) => one.path === path || one.path === real);
  return found?.entry ?? null;
}

/** The entry that the folder's `.git` file names; null when it has no such file. */
export async function entryNamedBy(folder: string): Promise<string | null> {
  const text = await lineOf(join(folder, '.git'));
  return text.startsWith('gitdir: ') ? resolve(folder, text.slice('gitdir: '.length)) : null;
}

/** Whether the folder's `.git` file names this entry. */
export async function belongsTo(folder: string, entry: string): Promise<boolean> {
  const named = await entryNamedBy(folder);
  return named !== null && (await realOr(named)) === (await realOr(entry));
}

/** The real path; of what is not there, as it is given. */
export function realOr(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

/** Of one of git's files with one line; '' where it cannot be read. A path may end in blanks: only the line end goes. */
export async function lineOf(file: string): Promise<string> {
  return (await readFile(file, 'utf8').catch(() => '')).replace(/\n$/, '');
}
