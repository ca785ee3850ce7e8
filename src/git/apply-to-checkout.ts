import { lstat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { OrchestratorError } from '../core/errors/error.js';
import { applyDifference } from './apply-difference.js';
import type { ApplyOptions } from './contract.js';
import { branchCommand, notSafe, USER_CHECKOUT } from './checkout-not-safe.js';
import { changedPaths } from './diff-worktree.js';
import type { Place } from './git-environment.js';
import type { GitRoom } from './git-room.js';
import { identityEnvironment } from './identity.js';
import { mergeTrees } from './merge-trees.js';
import { currentBranch, isAncestor, requireCommit, shortCommit } from './refs.js';
import { commitTree, withScratch } from './scratch.js';
import { changes } from './status.js';

/**
 * See Git.applyToCheckout. Safe means: the checkout is on the branch the session began on (a branch, not a detached
 * HEAD), no merge or rebase is under way, no uncommitted, untracked or ignored file of the user's is among the files the
 * result touches, nothing is staged where a real merge is needed, and the merge has no conflict. Otherwise nothing changes.
 * Our git runs no hooks here either.
 */
export async function applyToCheckout(room: GitRoom, options: ApplyOptions): Promise<{ how: string }> {
  const { facts, base } = options;
  if (base.imported) return applyDifference(room, options);
  if (facts.checkout === null || facts.repository === null)
    throw notSafe(options, 'the repository is bare, there is no checkout', branchCommand(options));
  // Without changes there was no snapshot: then it is a merge like any other.
  if (options.includedChanges && base.commit !== facts.head) return applyDifference(room, options);
  const { checkout, repository } = { checkout: facts.checkout, repository: facts.repository };
  return room.locked(repository, () => mergeResult(room, options, checkout));
}

async function mergeResult(room: GitRoom, options: ApplyOptions, checkout: string): Promise<{ how: string }> {
  const at = { worktree: checkout };
  const result = await requireCommit(room, at, options.resultCommit);
  const head = await requireCommit(room, at, 'HEAD');
  await checkSameBranch(room, options, at);
  await checkNothingUnderWay(room, options, at);
  if (await isAncestor(room, at, result, head)) return { how: 'your checkout has it already' };
  const forward = await isAncestor(room, at, head, result);
  const target = forward ? result : await mergeCommit(room, options, { head, result });
  await checkUntouched(room, options, { at, head, target, forward });
  try {
    await room.run(['merge', '--ff-only', '--quiet', '--no-stat', '--no-overwrite-ignore', target], {
      at,
      env: USER_CHECKOUT,
      timeoutMs: 300_000,
    });
  } catch (error) {
    throw notSafe(
      options,
      error instanceof OrchestratorError ? String(error.params['problem']) : String(error),
    );
  }
  const branch = (await currentBranch(room, at)) ?? '';
  return {
    how: forward
      ? `${branch} was fast-forwarded to ${shortCommit(target)}`
      : `merged into ${branch} as ${shortCommit(target)}`,
  };
}

async function checkSameBranch(room: GitRoom, options: ApplyOptions, at: Place): Promise<void> {
  const branch = await currentBranch(room, at);
  if (branch === null) throw notSafe(options, 'it is on no branch (detached HEAD)');
  if (branch !== options.facts.branch)
    throw notSafe(
      options,
      `it is on ${branch} now, and was on ${options.facts.branch ?? 'no branch'} when the session began`,
    );
}

async function checkNothingUnderWay(
  room: GitRoom,
  options: ApplyOptions,
  at: { worktree: string },
): Promise<void> {
  for (const [name, what] of [
    ['MERGE_HEAD', 'a merge'],
    ['CHERRY_PICK_HEAD', 'a cherry-pick'],
    ['REVERT_HEAD', 'a revert'],
    ['rebase-merge', 'a rebase'],
    ['rebase-apply', 'a rebase'],
  ] as const) {
    const path = resolve(at.worktree, (await room.run(['rev-parse', '--git-path', name], { at })).text);
    if ((await lstat(path).catch(() => null)) !== null) throw notSafe(options, `${what} is under way there`);
  }
}

/** The commit that a merge would make, as an object. */
async function mergeCommit(
  room: GitRoom,
  options: ApplyOptions,
  sides: { head: string; result: string },
): Promise<string> {
  const worktree = options.facts.checkout ?? '';
  const repository = options.base.repository;
  return withScratch(room, repository, async (scratch) => {
    const merged = await mergeTrees(room, {
      repository,
      scratch,
      ours: sides.head,
      theirs: sides.result,
      attributesOf: { worktree },
      objects: null,
    });
    if (!merged.clean)
      throw notSafe(options, `your branch has moved on and conflicts in ${merged.conflicts.join(', ')}`);
    const env = await identityEnvironment(room, { worktree });
    const message = `Merge branch '${options.resultBranch}'\n`;
    return commitTree(
      room,
      { worktree },
      { tree: merged.tree, parents: [sides.head, sides.result], message, env },
    );
  });
}

async function checkUntouched(
  room: GitRoom,
  options: ApplyOptions,
  move: { at: { worktree: string }; head: string; target: string; forward: boolean },
): Promise<void> {
  const dirty = await changes(room, move.at);
  const staged = dirty.filter((change) => !/^[ ?]/.test(change.code)).map((change) => change.path);
  if (!move.forward && staged.length > 0)
    throw notSafe(options, `a merge is needed, and these files are staged: ${staged.join(', ')}`);
  const inTheWay = await userFilesAmong(room, move.at, {
    from: move.head,
    to: move.target,
    dirty: dirty.map((change) => change.path),
  });
  if (inTheWay.length > 0)
    throw notSafe(options, `the result changes files that you have changed too: ${inTheWay.join(', ')}`);
}

/** Paths the move touches that hold something of the user's: uncommitted changes, or a file (ignored ones too) where a new one must go. */
async function userFilesAmong(
  room: GitRoom,
  at: { worktree: string },
  move: { from: string; to: string; dirty: readonly string[] },
): Promise<readonly string[]> {
  const dirty = new Set(move.dirty);
  const found: string[] = [];
  for (const { kind, path } of await changedPaths(room, at, move)) {
    const below = move.dirty.some((other) => other.startsWith(`${path}/`) || path.startsWith(`${other}/`));
    if (dirty.has(path) || below || (kind === 'A' && (await isOccupied(room, at, path)))) found.push(path);
  }
  return found;
}

/** Something that is not tracked stands at the path, or a file where one of its folders must be. */
async function isOccupied(room: GitRoom, at: { worktree: string }, path: string): Promise<boolean> {
  for (let part = path; part !== '.'; part = dirname(part)) {
    const info = await lstat(join(at.worktree, part)).catch(() => null);
    if (info === null) continue;
    if (info.isDirectory()) return part === path && (await hasUntracked(room, at, part));
    return !(await isTracked(room, at, part));
  }
  return false;
}

async function isTracked(room: GitRoom, at: Place, path: string): Promise<boolean> {
  return (await room.run(['ls-files', '-z', '--', `:(top,literal)${path}`], { at })).raw !== '';
}

async function hasUntracked(room: GitRoom, at: Place, path: string): Promise<boolean> {
  return (await room.run(['ls-files', '--others', '-z', '--', `:(top,literal)${path}`], { at })).raw !== '';
}
