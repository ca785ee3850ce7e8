import type { Dirent } from 'node:fs';
import { access, constants, lstat, readdir, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** What lies at a path; looked at, never changed. */
export interface PathFacts {
  readonly path: string;
  readonly kind: 'directory' | 'file' | 'link' | 'socket' | 'other';
  /** Permission bits. */
  readonly mode: number;
  readonly owner: number;
  readonly sizeBytes: number;
  /** Differs between file systems. */
  readonly device: number;
  /** This process may write there; false also for a read-only file system, whoever asks. */
  readonly writable: boolean;
}

/** null: nothing is there. A link is not followed. Throws what the file system says otherwise. */
export async function pathFacts(path: string): Promise<PathFacts | null> {
  const info = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });
  if (info === null) return null;
  const writable = await access(path, constants.W_OK).then(
    () => true,
    () => false,
  );
  return {
    path,
    kind: kindOf(info),
    mode: info.mode & 0o777,
    owner: info.uid,
    sizeBytes: info.size,
    device: info.dev,
    writable,
  };
}

function kindOf(info: {
  isDirectory(): boolean;
  isFile(): boolean;
  isSymbolicLink(): boolean;
  isSocket(): boolean;
}): PathFacts['kind'] {
  if (info.isDirectory()) return 'directory';
  if (info.isFile()) return 'file';
  if (info.isSymbolicLink()) return 'link';
  return info.isSocket() ? 'socket' : 'other';
}

/** The folder, or the nearest one above it that exists: where something would be made. A link is followed. */
export async function nearestExisting(path: string): Promise<PathFacts> {
  for (let at = path; ; at = dirname(at)) {
    const facts = await pathFacts(at);
    if (facts === null && dirname(at) !== at) continue;
    if (facts === null) throw new Error(`${at} does not exist`);
    if (facts.kind !== 'link') return facts;
    const target = await stat(at).catch(() => null);
    return target?.isDirectory() === true ? { ...facts, kind: 'directory' } : facts;
  }
}

/** What lies directly in a folder; nothing where there is none. */
export async function listFolder(path: string): Promise<readonly PathFacts[]> {
  const names = await readdir(path).catch(() => []);
  const found = await Promise.all(
    names.toSorted((a, b) => (a < b ? -1 : 1)).map((name) => pathFacts(join(path, name))),
  );
  return found.filter((facts) => facts !== null);
}

/** Bytes that this user may still write on the file system of an existing path. */
export async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}

/** Space that a tree takes on the disk; `complete` is false when `signal` ended the walk, or part could not be read. */
export async function treeSize(
  path: string,
  signal: AbortSignal,
): Promise<{ bytes: number; complete: boolean }> {
  let bytes = 0;
  let complete = true;
  const folders = [path];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    if (signal.aborted) return { bytes, complete: false };
    const entries: Dirent[] = await readdir(folder, { withFileTypes: true }).catch(() => {
      complete = false;
      return [];
    });
    const [inner, files] = [entries.filter(isFolder), entries.filter((entry) => !isFolder(entry))];
    folders.push(...inner.map(({ name }) => join(folder, name)));
    const sizes = await Promise.all(files.map(({ name }) => blocksOf(join(folder, name))));
    bytes += sizes.reduce((sum, size) => sum + size, 0);
  }
  return { bytes, complete: complete && !signal.aborted };
}

function isFolder(entry: Dirent): boolean {
  return entry.isDirectory();
}

async function blocksOf(path: string): Promise<number> {
  const info = await lstat(path).catch(() => null);
  return (info?.blocks ?? 0) * 512;
}
