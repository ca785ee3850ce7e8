import { lstat, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isThere } from '../platform/disk.js';
import { isSameProcessAlive, ownIdentity, type ProcessIdentity } from '../platform/identity.js';
import type { GitRoom } from './git-room.js';
import { resolveCommit } from './refs.js';
import { belongsTo, entriesOf } from './worktree-entries.js';

/**
 * A worktree in the making. Git keeps it in the entry's `locked` file from the first moment to the last (so nobody
 * prunes it), and with it what a later process needs to clear it away if this one is killed: no agent has been in it.
 */
export interface Attempt {
  readonly path: string;
  readonly branch: string | null;
  readonly commit: string;
  readonly owner: ProcessIdentity;
}

const MARK = 'agentorchestr is making this worktree ';

export function newAttempt(options: { path: string; branch: string | null; commit: string }): Attempt {
  return { ...options, owner: ownIdentity() };
}

export function attemptReason(attempt: Attempt): string {
  return MARK + JSON.stringify(attempt);
}

function parseReason(text: string): Attempt | null {
  if (!text.startsWith(MARK)) return null;
  try {
    return JSON.parse(text.slice(MARK.length)) as Attempt;
  } catch {
    return null;
  }
}

/** Clears what killed processes left half-made in this repository. Call under the repository lock. */
export async function sweepInterrupted(room: GitRoom, repository: string): Promise<void> {
  for (const { entry, attempt } of await attempts(repository)) {
    if (isSameProcessAlive(attempt.owner)) continue;
    room.logger.info(
      { path: attempt.path, branch: attempt.branch },
      'clearing a worktree that was never finished',
    );
    await discard(room, repository, { entry, attempt });
  }
}

async function attempts(repository: string): Promise<{ entry: string; attempt: Attempt }[]> {
  const found: { entry: string; attempt: Attempt }[] = [];
  for (const entry of await entriesOf(repository)) {
    const attempt = parseReason(await readFile(join(entry, 'locked'), 'utf8').catch(() => ''));
    if (attempt !== null) found.push({ entry, attempt });
  }
  return found;
}

/** Removes exactly what one attempt made: its folder, its entry, its branch if nobody moved it. */
export async function discard(
  room: GitRoom,
  repository: string,
  made: { entry: string | null; attempt: Attempt },
): Promise<void> {
  const { entry, attempt } = made;
  if (await isAttemptFolder(attempt.path, entry))
    await rm(attempt.path, { recursive: true, force: true, maxRetries: 3 });
  if (entry !== null) await rm(entry, { recursive: true, force: true });
  if (attempt.branch === null) return;
  const ref = `refs/heads/${attempt.branch}`;
  // Only with the branch still at its first commit: otherwise somebody works on it.
  if ((await resolveCommit(room, { repository }, ref)) !== attempt.commit) return;
  await room.run(['update-ref', '-d', ref, attempt.commit], { at: { repository }, answers: [0, 1, 128] });
}

/** An empty folder, or one whose `.git` names this very entry. */
async function isAttemptFolder(path: string, entry: string | null): Promise<boolean> {
  const info = await lstat(path).catch(() => null);
  if (info === null || !info.isDirectory()) return false;
  if (!(await isThere(join(path, '.git')))) return (await readdir(path)).length === 0;
  return entry !== null && belongsTo(path, entry);
}
