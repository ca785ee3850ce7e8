import { lstat, mkdir, readdir, realpath, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { OrchestratorError } from '../core/errors/error.js';
import type { Worktree, WorktreeOptions } from './contract.js';
import type { GitRoom } from './git-room.js';
import { checkBranchName, requireCommit } from './refs.js';
import { keepOwnFilesOut } from './own-files-out.js';
import { splitZ, type GitAnswer } from './run-git.js';
import { populateSubmodules } from './submodules.js';
import { attemptReason, discard, newAttempt, sweepInterrupted, type Attempt } from './worktree-attempt.js';
import { entryNamedBy, entryOf, isEntryOf, lineOf, pathOf } from './worktree-entries.js';

const CHECKOUT_TIMEOUT_MS = 900_000;
const MADE_BY_US = ['.git', '.agentorchestr'];
const FULL_HASH = /^([0-9a-f]{40}|[0-9a-f]{64})$/;

/**
 * See Git.createWorktree. The entry is registered under the lock (10 ms), detached and locked against pruning; the
 * files come outside it, and the branch after them; what an attempt that dies leaves is in its mark, and swept.
 */
export async function createWorktree(room: GitRoom, options: WorktreeOptions): Promise<Worktree> {
  const { repository, branch } = options;
  const at = { repository };
  if (branch !== null) await checkBranchName(room, at, branch);
  const commit = FULL_HASH.test(options.commit)
    ? options.commit
    : await requireCommit(room, at, options.commit);
  // A branch that was there before must not go with an attempt that dies.
  const existing = options.existing === true ? branch : null;
  const own = existing === null ? branch : null;
  const isTaken = own !== null && (await namesakeOf(room, repository, own)) !== null;
  const made = await makeParent(options.path);
  const attempt = newAttempt({ path: made.path, branch: own, commit });
  try {
    await room.locked(repository, async () => {
      await sweepInterrupted(room, repository);
      // What was there may have been of an attempt that died.
      if (isTaken) await checkBranchFree(room, repository, own);
      await register(room, repository, attempt);
    });
  } catch (error) {
    await removeEmptyParents(made);
    // A whole hash was taken at its word; if there is no such commit, that is the reason.
    await requireCommit(room, at, commit);
    throw error;
  }
  let branchMade = false;
  try {
    await room.filling(async () => {
      const { complaints } = await checkOut(room, repository, { attempt, existing });
      branchMade = true;
      if (complaints !== '') await writeAgain(room, attempt.path);
      await materialiseLfs(room, attempt.path);
      await populateSubmodules(room, { repository, worktree: attempt.path });
    });
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

async function checkBranchFree(room: GitRoom, repository: string, branch: string): Promise<void> {
  const taken = await namesakeOf(room, repository, branch);
  if (taken !== null) throw new OrchestratorError('BRANCH_IN_USE', { branch: taken });
}

/** Any branch, remote branch or tag of that name, and any branch whose name git cannot keep beside it, belongs to somebody else. */
async function namesakeOf(room: GitRoom, repository: string, branch: string): Promise<string | null> {
  const refs = await room.run(['show-ref'], { at: { repository }, answers: [0, 1] });
  const names = refs.text.split('\n').map((line) => line.slice(line.indexOf(' ') + 1));
  const taken = names.find((name) => {
    const head = /^refs\/heads\/(.+)$/.exec(name)?.[1];
    if (head !== undefined)
      return head === branch || head.startsWith(`${branch}/`) || branch.startsWith(`${head}/`);
    return /^refs\/(remotes|tags)\//.test(name) && name.endsWith(`/${branch}`);
  });
  return taken?.replace(/^refs\/(heads|remotes|tags)\//, '') ?? null;
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
  const head = await lineOf(join(entry, 'HEAD'));
  if (!FULL_HASH.test(head)) return;
  const ref = `refs/agentorchestr/salvage/stale/${head}`;
  await room.run(['update-ref', ref, head], { at: { repository }, answers: [0, 1, 128] });
}

/** The files, then the branch with HEAD on it. Fails, and changes nothing, when the branch came to exist meanwhile. */
async function checkOut(
  room: GitRoom,
  repository: string,
  { attempt, existing }: { attempt: Attempt; existing: string | null },
): Promise<GitAnswer> {
  const own = attempt.branch === null ? ['--detach'] : ['-b', attempt.branch];
  const words = existing === null ? own : [existing, '--'];
  const call = { at: { worktree: attempt.path }, timeoutMs: CHECKOUT_TIMEOUT_MS };
  try {
    return await room.run(['checkout', '--quiet', ...words], call);
  } catch (error) {
    if (attempt.branch !== null) await checkBranchFree(room, repository, attempt.branch);
    throw error;
  }
}

/** A file that could not be written (a full disk) `checkout` only names, and ends with 0; `reset` says no. */
async function writeAgain(room: GitRoom, worktree: string): Promise<void> {
  await room.run(['reset', '--hard', '--quiet'], { at: { worktree }, timeoutMs: CHECKOUT_TIMEOUT_MS });
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
  const entry = await entryNamedBy(attempt.path);
  if (entry === null || (await pathOf(entry)) !== attempt.path || !(await isEntryOf(repository, entry)))
    throw invalid(attempt.path, 'git did not register it');
  if ((await realpath(attempt.path)) !== attempt.path)
    throw invalid(attempt.path, 'it is not the folder that git registered');
  const { head, name } = await headOf(room, attempt.path, { repository, entry });
  if (head !== attempt.commit) throw invalid(attempt.path, `it is at ${head} instead of ${attempt.commit}`);
  const wanted = attempt.branch === null ? 'HEAD' : `refs/heads/${attempt.branch}`;
  if (name !== wanted) throw invalid(attempt.path, `it is on ${name} instead of ${wanted}`);
  await checkHasFiles(room, attempt);
  await rm(join(entry, 'locked'), { force: true });
}

/** From git's files where they say it; that of a branch just made is in one of its own. Other ways to keep refs know git. */
async function headOf(
  room: GitRoom,
  worktree: string,
  { repository, entry }: { repository: string; entry: string },
): Promise<{ head: string | undefined; name: string }> {
  const link = /^ref: (refs\/heads\/.+)$/.exec(await lineOf(join(entry, 'HEAD')))?.[1];
  const head = link === undefined ? '' : await lineOf(join(repository, link));
  if (link !== undefined && FULL_HASH.test(head)) return { head, name: link };
  const args = ['rev-parse', 'HEAD', '--symbolic-full-name', 'HEAD'];
  const [commit, name = ''] = (await room.run(args, { at: { worktree } })).text.split('\n');
  return { head: commit, name };
}

/** Not by `status`: it reads every file that is no older than its index, which of a new worktree is all of them. */
async function checkHasFiles(room: GitRoom, attempt: Attempt): Promise<void> {
  const at = { worktree: attempt.path };
  const seemsEmpty = (await readdir(attempt.path)).every((name) => MADE_BY_US.includes(name));
  if (seemsEmpty && (await room.run(['ls-files', '-z'], { at })).raw === '')
    if ((await room.run(['ls-tree', '-z', attempt.commit], { at })).raw !== '')
      throw invalid(attempt.path, 'it has no files');
  const gone = splitZ((await room.run(['ls-files', '--deleted', '-z'], { at })).raw);
  if (gone.length > 0) throw invalid(attempt.path, `${gone.length} files are missing, ${gone[0]} among them`);
}
