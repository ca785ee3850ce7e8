import { rm, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { delay } from '../core/clock.js';
import { OrchestratorError } from '../core/errors/error.js';
import { changedPaths, commonDirectory } from './diff-worktree.js';
import type { GitRoom } from './git-room.js';
import { SCRATCH_IDENTITY } from './identity.js';
import { retryWhileIndexIsLocked } from './index-edits.js';
import { isAncestor, requireCommit, resolveCommit } from './refs.js';
import { commitTree, snapshotTree, withScratch } from './scratch.js';
import { changedFiles } from './status.js';

/** Where a worktree is being moved to; a per-worktree ref, so that it is seen by nobody else and goes with the worktree. */
const MOVING = 'refs/worktree/agentorchestr-moving';
const MOVE_TIMEOUT_MS = 300_000;
/** An index lock that nobody touched for this long was left by a git that was killed. */
const DEAD_LOCK_MS = 10_000;

/** Moves a clean worktree (files, index, branch) to a descendant of its HEAD. Killed half-way, `recoverWorktree` finishes it. */
export async function moveWorktree(
  room: GitRoom,
  worktree: string,
  move: { from: string; to: string },
): Promise<void> {
  const at = { worktree };
  await room.run(['update-ref', MOVING, move.to], { at });
  try {
    await retryWhileIndexIsLocked(room, () =>
      room.run(['merge', '--ff-only', '--quiet', '--no-stat', move.to], { at, timeoutMs: MOVE_TIMEOUT_MS }),
    );
  } catch (error) {
    // Git refuses before it writes when something is in the way: then nothing moved and nothing is pending.
    if ((await changedFiles(room, at)).length === 0 && (await resolveCommit(room, at, 'HEAD')) === move.from)
      await room.run(['update-ref', '-d', MOVING], { at });
    throw error;
  }
  const head = await requireCommit(room, at, 'HEAD');
  await room.run(['update-ref', '-d', MOVING], { at });
  if (head !== move.to)
    throw new OrchestratorError('GIT_FAILED', {
      command: 'merge',
      problem: `${worktree} is at ${head}, not at ${move.to}`,
    });
}

/** Finishes a move that a killed process began; without one, nothing is touched but a merge left open on a clean tree. */
export async function recoverWorktree(room: GitRoom, worktree: string): Promise<void> {
  const at = { worktree };
  const target = await resolveCommit(room, at, MOVING);
  if (target === null) return dropOpenMerge(room, worktree);
  const head = await requireCommit(room, at, 'HEAD');
  // Somebody committed on top meanwhile: the move is then not ours to finish.
  if (head !== target && (await isAncestor(room, at, head, target))) {
    await breakDeadIndexLock(room, worktree);
    await keepForeignChanges(room, worktree, { head, target });
    await room.run(['reset', '--hard', '--quiet', target], { at, timeoutMs: MOVE_TIMEOUT_MS });
    room.logger.info({ worktree, commit: target }, 'finished a move that was interrupted');
  }
  await room.run(['update-ref', '-d', MOVING], { at });
}

async function dropOpenMerge(room: GitRoom, worktree: string): Promise<void> {
  const at = { worktree };
  for (const [name, command] of [
    ['MERGE_HEAD', 'merge'],
    ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ] as const) {
    const open =
      (await room.run(['rev-parse', '--verify', '--quiet', name], { at, answers: [0, 1] })).code === 0;
    if (open && (await changedFiles(room, at)).length === 0) await room.run([command, '--quit'], { at });
  }
}

async function breakDeadIndexLock(room: GitRoom, worktree: string): Promise<void> {
  const at = { worktree };
  const lock = resolve(worktree, (await room.run(['rev-parse', '--git-path', 'index.lock'], { at })).text);
  for (;;) {
    const info = await stat(lock).catch(() => null);
    if (info === null) return;
    if (room.clock.now() - info.mtimeMs > DEAD_LOCK_MS) return rm(lock, { force: true });
    await delay(room.clock, 200);
  }
}

/** Files that are neither as before the move nor as after it were changed by somebody since: they are kept under a ref first. */
async function keepForeignChanges(
  room: GitRoom,
  worktree: string,
  move: { head: string; target: string },
): Promise<void> {
  const at = { worktree };
  const repository = await commonDirectory(room, worktree);
  await withScratch(room, repository, async (scratch) => {
    const { tree } = await snapshotTree(room, worktree, { scratch, objects: null, tolerant: true });
    const names = async (from: string) =>
      (await changedPaths(room, at, { from, to: tree })).map(({ path }) => path);
    const before = new Set(await names(move.head));
    const foreign = (await names(move.target)).filter((path) => before.has(path));
    if (foreign.length === 0) return;
    const message = `Changes found when an interrupted integration was finished\n`;
    const commit = await commitTree(room, at, { tree, parents: [move.head], message, env: SCRATCH_IDENTITY });
    await room.run(['update-ref', `refs/agentorchestr/salvage/interrupted/${commit}`, commit], { at });
    room.logger.warn(
      { worktree, commit, files: foreign },
      'changes made during an interrupted integration are kept under a ref',
    );
  });
}
