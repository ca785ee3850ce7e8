import { constants } from 'node:fs';
import { chmod, copyFile, lstat, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ensurePrivateDirectory } from '../platform/files.js';
import type { SalvageOptions } from './contract.js';
import type { GitRoom } from './git-room.js';
import { listedIgnored, makeFolders, topOf } from './include-ignored.js';
import { isOwnFile } from './own-files.js';
import { splitZ } from './run-git.js';

const FILE_LIMIT_BYTES = 1024 * 1024;
const TOTAL_LIMIT_BYTES = 50 * 1024 * 1024;

export interface Precious {
  readonly kept: readonly string[];
  readonly notKept: readonly string[];
}

/**
 * Copies ignored files worth keeping (a changed `.env`, a local database) out of a worktree: as 0600 files, never as
 * git objects, which would be pushed along one day. Worth keeping: listed in `.worktreeinclude`, or lying by itself
 * (not inside a wholly ignored folder such as node_modules) and at most 1 MiB. Equal to the project's copy: not kept.
 */
export async function keepPrecious(room: GitRoom, options: SalvageOptions): Promise<Precious> {
  const kept: string[] = [];
  const notKept: string[] = [];
  const isThere = (await lstat(options.project).catch(() => null))?.isDirectory() ?? false;
  const project = isThere ? await topOf(room, options.project) : null;
  let total = 0;
  for (const { path, listed } of await candidates(room, options.worktree)) {
    const source = join(options.worktree, path);
    const info = await lstat(source).catch(() => null);
    if (info === null || !info.isFile()) continue;
    if (project !== null && (await isSame(source, join(project, path)))) continue;
    if ((!listed && info.size > FILE_LIMIT_BYTES) || total + info.size > TOTAL_LIMIT_BYTES) {
      notKept.push(path);
      continue;
    }
    total += info.size;
    if (options.dryRun === true || (await keep(source, options.keepIgnoredIn, path))) kept.push(path);
    else notKept.push(path);
  }
  return { kept, notKept };
}

async function candidates(room: GitRoom, worktree: string): Promise<{ path: string; listed: boolean }[]> {
  const args = ['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z'];
  const single = splitZ((await room.run(args, { at: { worktree } })).raw).filter(
    (path) => !path.endsWith('/'),
  );
  const listed = new Set(await listedIgnored(room, worktree));
  const all = [...new Set([...listed, ...single])].filter(
    (path) => !isOwnFile(path) && !path.endsWith('.agentorchestr/.gitignore'),
  );
  return all.sort().map((path) => ({ path, listed: listed.has(path) }));
}

/** Two files with the same bytes; whatever cannot be read, or is no file, is not the same. */
async function isSame(a: string, b: string): Promise<boolean> {
  const [one, other] = await Promise.all([lstat(a), lstat(b).catch(() => null)]);
  if (other === null || !other.isFile() || one.size !== other.size) return false;
  const [first, second] = await Promise.all([a, b].map((path) => open(path).catch(() => null)));
  try {
    if (!first || !second) return false;
    const [chunkA, chunkB] = [Buffer.alloc(65_536), Buffer.alloc(65_536)];
    for (;;) {
      const [readA, readB] = await Promise.all([first.read(chunkA), second.read(chunkB)]);
      if (
        readA.bytesRead !== readB.bytesRead ||
        !chunkA.subarray(0, readA.bytesRead).equals(chunkB.subarray(0, readB.bytesRead))
      )
        return false;
      if (readA.bytesRead === 0) return true;
    }
  } finally {
    await Promise.all([first?.close(), second?.close()]);
  }
}

/** An earlier salvage may have kept another state of the same file: then this one gets a number. */
async function keep(source: string, root: string, path: string): Promise<boolean> {
  await ensurePrivateDirectory(root);
  if (!(await makeFolders(root, dirname(path), 0o700))) return false;
  for (let number = 0; ; number += 1) {
    const target = join(root, number === 0 ? path : `${path}.${number}`);
    try {
      await copyFile(source, target, constants.COPYFILE_EXCL);
      await chmod(target, 0o600);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false;
      if (await isSame(source, target)) return true;
    }
  }
}
