import { lstat, mkdir, readdir, readFile, realpath, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { OrchestratorError } from '../core/errors/error.js';
import type { Worktree, WorktreeOptions } from './contract.js';
import type { GitRoom } from './git-room.js';
import { checkBranchName, requireCommit } from './refs.js';
import { keepOwnFilesOut } from './own-files-out.js';
import { splitZ } from './run-git.js';
import { populateSubmodules } from './submodules.js';
import { attemptReason, discard, newAttempt, sweepInterrupted, type Attempt } from './worktree-attempt.js';
import { belongsTo, entryOf } from './worktree-entries.js';

const CHECKOUT_TIMEOUT_MS = 900_000;

/**
 * See Git.createWorktree. The entry is registered under the lock (10 ms), detached and locked against pruning; the
 * files come outside it; the branch is made last, so that an attempt that dies leaves no branch behind.
 */
export async function createWorktree(room: GitRoom, options: WorktreeOptions): Promise<Worktree> {
  const { repository, branch } = options;
  const at = { repository };
  if (branch !== null) await checkBranchName(room, at, branch);
  const commit = await requireCommit(room, at, options.commit);
  const made = await makeParent(options.path);
  // A branch that was there before must not go with an attempt that dies.
  const existing = options.existing === true ? branch : null;
  const attempt = newAttempt({ path: made.path, branch: existing === null ? branch : null, commit });
  try {
    await room.locked(repository, () => register(room, repository, attempt));
  } catch (error) {
    await removeEmptyParents(made);
    throw error;
  }
  let branchMade = false;
  try {
    await room.filling(() => fill(room, repository, attempt));
    await createBranch(room, repository, attempt);
    branchMade = true;
    await attachBranch(room, attempt);
    if (existing !== null)
      await room.run(['checkout', '--quiet', existing, '--'], { at: { worktree: attempt.path } });
    await keepOwnFilesOut(attempt.path, options.subdirectory ?? '');
    await validate(room, repository, { ...attempt, branch });
  } catch (error) {
    await undo(room, repository, branchMade ? attempt : { ...attempt, branch: null });
    await removeEmptyParents(made);
    throw error;
  }
  return { path: made.path, branch, commit };
}

interface MadeParent {
  /** The wanted path with its parent's symbolic links resolved. */
  readonly path: string;
  /** The topmost folder that did not exist before. */
  readonly firstMade: string | undefined;
}

async function makeParent(path: string): Promise<MadeParent> {
  if (!isAbsolute(path) || path.includes('\0')) throw invalid(path, 'the path is not absolute');
  try {
    const firstMade = await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    return { path: join(await realpath(dirname(path)), basename(path)), firstMade };
  } catch (error) {
    throw invalid(path, `its folder cannot be made: ${(error as Error).message}`, error);
  }
}

async function removeEmptyParents(made: MadeParent): Promise<void> {
  if (made.firstMade === undefined) return;
  const top = await realpath(made.firstMade).catch(() => null);
  if (top === null) return;
  for (let folder = dirname(made.path); folder.startsWith(top); folder = dirname(folder)) {
    const removed = await rmdir(folder).then(
      () => true,
      () => false,
    );
    if (!removed) return;
  }
}

function invalid(path: string, problem: string, cause?: unknown): OrchestratorError {
  return new OrchestratorError('WORKTREE_INVALID', { path, problem }, { cause });
}

async function register(room: GitRoom, repository: string, attempt: Attempt): Promise<void> {
  await sweepInterrupted(room, repository);
  if (attempt.branch !== null) await checkBranchFree(room, repository, attempt.branch);
  await checkPathFree(attempt.path);
  await keepHeadOfStaleEntry(room, repository, attempt.path);
  // Twice --force takes over the entry of a folder that is gone, even a locked one; the branch is not involved (--detach).
  const args = ['worktree', 'add', '--force', '--force', '--detach', '--no-checkout', '--lock'];
  const { version } = await room.tools();
  const reason = version >= 234 ? ['--reason', attemptReason(attempt)] : [];
  try {
    await room.run([...args, ...reason, '--', attempt.path, attempt.commit], { at: { repository } });
  } catch (error) {
    await discard(room, repository, {
      entry: await entryOf(repository, attempt.path),
      attempt: { ...attempt, branch: null },
    });
    throw error;
  }
}

/** Any branch, remote branch or tag of that name, and any branch whose name git cannot keep beside it, belongs to somebody else. */
async function checkBranchFree(room: GitRoom, repository: string, branch: string): Promise<void> {
  const refs = await room.run(['show-ref'], { at: { repository }, answers: [0, 1] });
  const names = refs.text.split('\n').map((line) => line.slice(line.indexOf(' ') + 1));
  const taken = names.find((name) => {
    const head = /^refs\/heads\/(.+)$/.exec(name)?.[1];
    if (head !== undefined)
      return head === branch || head.startsWith(`${branch}/`) || branch.startsWith(`${head}/`);
    return /^refs\/(remotes|tags)\//.test(name) && name.endsWith(`/${branch}`);
  });
  if (taken !== undefined)
    throw new OrchestratorError('BRANCH_IN_USE', {
      branch: taken.replace(/^refs\/(heads|remotes|tags)\//, ''),
    });
}

async function checkPathFree(path: string): Promise<void> {
  const info = await lstat(path).catch(() => null);
  if (info === null) return;
  if (!info.isDirectory()) throw invalid(path, 'something that is not a folder is in the way');
  if ((await readdir(path)).length > 0) throw invalid(path, 'a folder with files is in the way');
}

/** A folder deleted by hand may have been the only name of commits made on a detached HEAD: they get a ref of ours. */
async function keepHeadOfStaleEntry(room: GitRoom, repository: string, path: string): Promise<void> {
  const entry = await entryOf(repository, path);
  if (entry === null) return;
  const head = (await readFile(join(entry, 'HEAD'), 'utf8').catch(() => '')).trim();
  if (!/^[0-9a-f]{40,64}$/.test(head)) return;
  const ref = `refs/agentorchestr/salvage/stale/${head}`;
  await room.run(['update-ref', ref, head], { at: { repository }, answers: [0, 1, 128] });
}

async function fill(room: GitRoom, repository: string, attempt: Attempt): Promise<void> {
  const at = { worktree: attempt.path };
  await room.run(['reset', '--hard', '--quiet'], { at, timeoutMs: CHECKOUT_TIMEOUT_MS });
  await materialiseLfs(room, attempt.path);
  await populateSubmodules(room, { repository, worktree: attempt.path });
}

/**
 * Large files come from the clone's own LFS store only: the checkout leaves pointers (GIT_LFS_SKIP_SMUDGE), then
 * git-lfs fills in what it has. What it has not stays a pointer, which git sees as unchanged; nothing is downloaded.
 */
async function materialiseLfs(room: GitRoom, worktree: string): Promise<void> {
  if (!(await room.tools()).lfsInstalled) return;
  const at = { worktree };
  const attributes = await room.run(
    ['grep', '--quiet', '-e', 'filter=lfs', '--', ':(glob)**/.gitattributes'],
    { at, answers: [0, 1] },
  );
  if (attributes.code === 0)
    await room.run(['lfs', 'checkout'], { at, timeoutMs: CHECKOUT_TIMEOUT_MS, answers: [0, 1, 2] });
}

/** Fails, and changes nothing, when the branch came to exist meanwhile. */
async function createBranch(room: GitRoom, repository: string, attempt: Attempt): Promise<void> {
  if (attempt.branch === null) return;
  const input = `create refs/heads/${attempt.branch} ${attempt.commit}\n`;
  try {
    await room.run(['update-ref', '-m', 'agentorchestr: new branch', '--stdin'], {
      at: { repository },
      input,
    });
  } catch (error) {
    await checkBranchFree(room, repository, attempt.branch);
    throw error;
  }
}

async function attachBranch(room: GitRoom, attempt: Attempt): Promise<void> {
  if (attempt.branch === null) return;
  const args = ['symbolic-ref', '-m', 'agentorchestr: new branch', 'HEAD', `refs/heads/${attempt.branch}`];
  await room.run(args, { at: { worktree: attempt.path } });
}

async function undo(room: GitRoom, repository: string, attempt: Attempt): Promise<void> {
  await room
    .locked(repository, async () =>
      discard(room, repository, { entry: await entryOf(repository, attempt.path), attempt }),
    )
    .catch((error: unknown) =>
      room.logger.warn({ err: error, path: attempt.path }, 'a failed worktree could not be removed'),
    );
}

async function validate(room: GitRoom, repository: string, attempt: Attempt): Promise<void> {
  const at = { worktree: attempt.path };
  const entry = await entryOf(repository, attempt.path);
  if (entry === null) throw invalid(attempt.path, 'git did not register it');
  if ((await realpath(attempt.path)) !== attempt.path || !(await belongsTo(attempt.path, entry)))
    throw invalid(attempt.path, 'it is not the folder that git registered');
  const answers = await room.run(['rev-parse', 'HEAD', '--symbolic-full-name', 'HEAD'], { at });
  const [head, name = ''] = answers.text.split('\n');
  if (head !== attempt.commit) throw invalid(attempt.path, `it is at ${head} instead of ${attempt.commit}`);
  const wanted = attempt.branch === null ? 'HEAD' : `refs/heads/${attempt.branch}`;
  if (name !== wanted) throw invalid(attempt.path, `it is on ${name} instead of ${wanted}`);
  await checkHasFiles(room, attempt);
  await rm(join(entry, 'locked'), { force: true });
}

async function checkHasFiles(room: GitRoom, attempt: Attempt): Promise<void> {
  const at = { worktree: attempt.path };
  const tracked = await room.run(['ls-files', '-z'], { at, maxBytes: 4_000, cut: true });
  if (tracked.raw === '' && (await room.run(['ls-tree', '-z', attempt.commit], { at })).raw !== '')
    throw invalid(attempt.path, 'it has no files');
  const gone = splitZ((await room.run(['ls-files', '--deleted', '-z'], { at })).raw);
  if (gone.length > 0) throw invalid(attempt.path, `${gone.length} files are missing, ${gone[0]} among them`);
}
