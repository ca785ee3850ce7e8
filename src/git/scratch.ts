import { copyFile, lstat, mkdir, mkdtemp, readdir, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { systemClock } from '../platform/clock.js';
import { currentUserId } from '../platform/paths.js';
import type { Environment, Place } from './git-environment.js';
import type { GitRoom } from './git-room.js';
import { embeddedRepositories, forget, unstageOwnFiles } from './index-edits.js';
import { ALL_BUT_OWN } from './own-files.js';
import { splitZ } from './run-git.js';

const PREFIX = 'agentorchestr-git-';
const ABANDONED_MS = 86_400_000;
const swept = new Set<string>();

export interface Scratch {
  readonly directory: string;
  /** Sends new objects into the scratch folder; the repository's own are read, never written. */
  readonly objects: Environment;
}

/** A temporary folder for indexes and objects that nobody shall ever see; removed when `work` is done. */
export async function withScratch<T>(
  room: GitRoom,
  repository: string,
  work: (scratch: Scratch) => Promise<T>,
): Promise<T> {
  const parent = room.env['TMPDIR'] ?? tmpdir();
  await sweepOnce(parent);
  const directory = await mkdtemp(join(parent, PREFIX));
  try {
    await mkdir(join(directory, 'objects'));
    await mkdir(join(directory, 'tree'));
    const objects = {
      GIT_OBJECT_DIRECTORY: join(directory, 'objects'),
      GIT_ALTERNATE_OBJECT_DIRECTORIES: quoteAlternate(join(repository, 'objects')),
    };
    return await work({ directory, objects });
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** A killed process leaves its folder; after a day nobody works in it any more. */
async function sweepOnce(parent: string): Promise<void> {
  if (swept.has(parent)) return;
  swept.add(parent);
  for (const name of (await readdir(parent)).filter((entry) => entry.startsWith(PREFIX))) {
    const info = await lstat(join(parent, name)).catch(() => null);
    const abandoned =
      info?.isDirectory() === true &&
      info.uid === currentUserId() &&
      systemClock.now() - info.mtimeMs > ABANDONED_MS;
    if (abandoned) await rm(join(parent, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

/** The list is separated by colons; git reads a double-quoted entry as one. */
function quoteAlternate(path: string): string {
  return /[:"\\\n]/.test(path) ? `"${path.replaceAll(/(["\\])/g, '\\$1').replaceAll('\n', '\\n')}"` : path;
}

export interface TreeSnapshot {
  readonly tree: string;
  /** Folders that are repositories of their own: no tree can hold their files. */
  readonly embedded: readonly string[];
  /** Some files could not be read. */
  readonly incomplete: boolean;
}

let counter = 0;

/**
 * The working tree as a tree object, uncommitted and untracked files included, ignored ones and ours left out. Works on
 * a copy of the index: the real one, HEAD and the files stay as they are. `objects: null` keeps the objects for good.
 */
export async function snapshotTree(
  room: GitRoom,
  worktree: string,
  options: { scratch: Scratch; objects: Environment | null; tolerant?: boolean },
): Promise<TreeSnapshot> {
  const at = { worktree };
  const env = { ...options.objects, GIT_INDEX_FILE: await copyOfIndex(room, worktree, options.scratch) };
  await lookAtEveryFile(room, worktree, env);
  await unstageOwnFiles(room, at, env);
  const args = [
    'add',
    '--all',
    ...(options.tolerant === true ? ['--ignore-errors'] : []),
    '--',
    ...ALL_BUT_OWN,
  ];
  const added = await room.run(args, {
    at,
    env,
    timeoutMs: 300_000,
    answers: options.tolerant === true ? [0, 1] : [0],
  });
  const embedded = await embeddedRepositories(room, at, env);
  await forget(room, at, embedded, env);
  const { text: tree } = await room.run(['write-tree'], { at, env });
  return { tree, embedded, incomplete: added.code !== 0 };
}

/** Files that git was told to look away from (assume-unchanged, skip-worktree) may have changed all the same. */
async function lookAtEveryFile(room: GitRoom, worktree: string, env: Environment): Promise<void> {
  const at = { worktree };
  const marked = splitZ((await room.run(['ls-files', '-v', '-z'], { at, env })).raw)
    .filter((line) => /^[a-zS] /.test(line))
    .map((line) => line.slice(2));
  // One that a sparse checkout left out is not deleted.
  const there: string[] = [];
  for (const path of marked)
    if ((await lstat(join(worktree, path)).catch(() => null)) !== null) there.push(path);
  if (there.length === 0) return;
  const input = there.map((path) => `${path}\0`).join('');
  for (const flag of ['--no-assume-unchanged', '--no-skip-worktree'])
    await room.run(['update-index', flag, '-z', '--stdin'], { at, env, input });
}

/** The worktree's index as a file of the scratch folder: even `write-tree` would rewrite the real one. */
async function copyOfIndex(room: GitRoom, worktree: string, scratch: Scratch): Promise<string> {
  const at = { worktree };
  const index = resolve(worktree, (await room.run(['rev-parse', '--git-path', 'index'], { at })).text);
  const copy = await indexCopy(index, scratch);
  if (copy !== null) return copy;
  const fresh = join(scratch.directory, `index-${(counter += 1)}`);
  await room.run(['read-tree', 'HEAD'], { at, env: { GIT_INDEX_FILE: fresh } });
  return fresh;
}

/** A copy of an index file; null when there is none. */
export async function indexCopy(index: string, scratch: Scratch): Promise<string | null> {
  const info = await stat(index).catch(() => null);
  if (info === null) return null;
  const copy = join(scratch.directory, `index-${(counter += 1)}`);
  await copyFile(index, copy);
  // Git finds a file that changed in the very tick of the last index write by comparing with the index's own time: a
  // younger copy would hide such a change.
  const seconds = Math.floor(info.mtimeMs) / 1000;
  await utimes(copy, seconds, seconds);
  return copy;
}

/** A commit object that no ref names yet. */
export async function commitTree(
  room: GitRoom,
  at: Place,
  options: { tree: string; parents: readonly string[]; message: string; env: Environment },
): Promise<string> {
  const parents = options.parents.flatMap((parent) => ['-p', parent]);
  return (
    await room.run(['commit-tree', ...parents, '-F', '-', options.tree], {
      at,
      env: options.env,
      input: options.message,
    })
  ).text;
}

/** An index of the scratch folder that holds exactly one tree. */
export async function indexOfTree(
  room: GitRoom,
  at: Place,
  options: { scratch: Scratch; tree: string; env: Environment },
): Promise<string> {
  const file = join(options.scratch.directory, `index-${(counter += 1)}`);
  await room.run(['read-tree', options.tree], { at, env: { ...options.env, GIT_INDEX_FILE: file } });
  return file;
}
