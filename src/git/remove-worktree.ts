import { randomBytes } from 'node:crypto';
import { chmod, lstat, mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { OrchestratorError } from '../core/errors/error.js';
import { isThere, namesIn } from '../platform/disk.js';
import type { GitRoom } from './git-room.js';
import { resolveCommit } from './refs.js';
import { entryNamedBy, realOr, worktreeEntries, type WorktreeEntry } from './worktree-entries.js';

const TRASHED = 'agentorchestr-trash-';

/** See Git.removeWorktree. A rename and one entry: milliseconds whatever the size; the user's other entries are not pruned. */
export async function removeWorktree(
  room: GitRoom,
  options: { repository: string; path: string; trash: string },
): Promise<void> {
  const { repository } = options;
  const path = await realOr(options.path);
  const bins = await room.locked(repository, async () => {
    const entries = await worktreeEntries(repository);
    await refuseNested(entries, path);
    const entry = await entryFor(entries, path);
    if (entry === null && (await holdsAnotherRepository(path)))
      throw removeProblem(`${path} is not a worktree of this repository`);
    const moved = await moveToTrash(path, options.trash);
    if (entry !== null) await dropEntry(repository, entry);
    return moved;
  });
  for (const bin of bins) room.background(emptyTrash(room, bin));
}

async function entryFor(entries: readonly WorktreeEntry[], path: string): Promise<string | null> {
  const found = entries.find((one) => one.path === path);
  if (found !== undefined) return found.entry;
  // Of a worktree that somebody renamed, the `.git` file still names its entry.
  const named = await entryNamedBy(path);
  if (named === null) return null;
  const real = await realOr(named);
  for (const { entry } of entries) if ((await realOr(entry)) === real) return entry;
  return null;
}

function removeProblem(problem: string): OrchestratorError {
  return new OrchestratorError('GIT_FAILED', {
    command: 'worktree remove',
    problem,
    hint: 'look at it, and remove it by hand',
  });
}

/** Agents make worktrees of their own inside theirs; moving those away would lose what is in them. */
async function refuseNested(entries: readonly WorktreeEntry[], path: string): Promise<void> {
  for (const { path: other } of entries)
    if (other?.startsWith(`${path}/`) === true && (await isThere(other)))
      throw removeProblem(`another worktree lies inside: ${other}`);
}

/** A folder that git does not know as this repository's worktree is removed only when it is no repository at all. */
async function holdsAnotherRepository(path: string): Promise<boolean> {
  const link = await lstat(join(path, '.git')).catch(() => null);
  if (link === null) return false;
  if (link.isDirectory()) return true;
  const named = await entryNamedBy(path);
  return named !== null && (await isThere(named));
}

/** The folders to empty afterwards. Another file system cannot take a rename: then the trash is beside the worktree. */
async function moveToTrash(path: string, trash: string): Promise<string[]> {
  if (!(await isThere(path))) return [];
  const name = `${TRASHED}${basename(path)}-${randomBytes(6).toString('hex')}`;
  await mkdir(trash, { recursive: true, mode: 0o700 });
  try {
    await rename(path, join(trash, name));
    return [trash];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    await rename(path, join(dirname(path), name));
    return [dirname(path)];
  }
}

/** What `git worktree remove` does once the folder is gone; it would refuse half-written entries, and cost a process. */
async function dropEntry(repository: string, entry: string): Promise<void> {
  await rm(entry, { recursive: true, force: true });
  // Where it was the last one.
  await rmdir(join(repository, 'worktrees')).catch(() => undefined);
}

/** Deletes everything that was ever moved here, what an earlier process did not get to included. */
export async function emptyTrash(room: GitRoom, trash: string): Promise<void> {
  for (const name of await namesIn(trash)) {
    if (!name.startsWith(TRASHED)) continue;
    const path = join(trash, name);
    await rm(path, { recursive: true, force: true, maxRetries: 3 })
      .catch(async () => {
        await makeWritable(path);
        await rm(path, { recursive: true, force: true, maxRetries: 3 });
      })
      .catch((error: unknown) => room.logger.warn({ err: error, path }, 'trash could not be deleted'));
  }
}

/** Package caches make their folders read-only. */
async function makeWritable(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isDirectory()) await makeWritable(join(folder, entry.name));
}

/** See Git.deleteBranch. A branch that is not there is fine; one that is checked out somewhere is not. */
export async function deleteBranch(
  room: GitRoom,
  options: { repository: string; branch: string },
): Promise<void> {
  const { repository, branch } = options;
  const at = { repository };
  if (!branch.startsWith('agentorchestr/')) throw new OrchestratorError('BRANCH_IN_USE', { branch });
  if ((await resolveCommit(room, at, `refs/heads/${branch}`)) === null) return;
  await room.locked(repository, () => room.run(['branch', '--delete', '--force', '--', branch], { at }));
}
