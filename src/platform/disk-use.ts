import { lstat, readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';

export interface DiskUse {
  readonly bytes: number;
  /** false: there was more than is looked at; `bytes` is then what was seen. */
  readonly complete: boolean;
}

const MOST_ENTRIES = 300_000;

/** What the files below the paths occupy on disk. Links are not followed, hard links count once; what is not there is 0. */
export async function diskUse(paths: readonly string[], mostEntries = MOST_ENTRIES): Promise<DiskUse> {
  const seen = new Set<string>();
  const open = [...paths];
  let bytes = 0;
  for (let looked = 0; open.length > 0; looked += 1) {
    if (looked >= mostEntries) return { bytes, complete: false };
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

/** The names in a folder, in order; [] when it is not there. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  const names: string[] = await readdir(folder).catch(() => []);
  return names.sort((a, b) => (a < b ? -1 : 1));
}
