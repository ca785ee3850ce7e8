import { access, constants, lstat, readdir, stat, statfs } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

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
  const found = await Promise.all((await namesIn(path)).map((name) => pathFacts(join(path, name))));
  return found.filter((facts) => facts !== null);
}

/** Bytes that this user may still write on the file system of an existing path. */
export async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}

export interface DiskUse {
  readonly bytes: number;
  /** false: there was more than is looked at; `bytes` is then what was seen. */
  readonly complete: boolean;
}

const MOST_ENTRIES = 300_000;

/**
 * What the files below the paths occupy on disk. Links are not followed, hard links count once; what is not there is 0.
 * The walk ends at `mostEntries`, or when `signal` aborts.
 */
export async function diskUse(
  paths: readonly string[],
  { mostEntries = MOST_ENTRIES, signal }: { mostEntries?: number; signal?: AbortSignal } = {},
): Promise<DiskUse> {
  const seen = new Set<string>();
  const open = [...paths];
  let bytes = 0;
  for (let looked = 0; open.length > 0; looked += 1) {
    if (looked >= mostEntries || signal?.aborted === true) return { bytes, complete: false };
    const path = open.pop() ?? '';
    const info = await lstat(path).catch(() => null);
    if (info === null) continue;
    if (info.isDirectory()) {
      for (const name of await readdir(path).catch(() => [])) open.push(join(path, name));
    } else if (info.nlink > 1) {
      const file = `${info.dev} ${info.ino}`;
      if (seen.has(file)) continue;
      seen.add(file);
    }
    bytes += info.blocks * 512;
  }
  return { bytes, complete: true };
}

/** Every file below a folder, relative to it and in order; [] when it is not there. */
export async function filesBelow(root: string): Promise<readonly string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort((a, b) => (a < b ? -1 : 1));
}

export async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null;
}

/** A link is followed. */
export async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (info) => info.isDirectory(),
    () => false,
  );
}

/** The names in a folder, in order; [] when it is not there. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  const names: string[] = await readdir(folder).catch(() => []);
  return names.sort((a, b) => (a < b ? -1 : 1));
}
