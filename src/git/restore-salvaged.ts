import { constants } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, readdir, readFile, readlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { OrchestratorError } from '../core/errors/error.js';
import { filesBelow, isThere } from '../platform/disk.js';
import type { Restored, RestoreOptions } from './contract.js';
import { createWorktree } from './create-worktree.js';
import { changedPaths } from './diff-worktree.js';
import type { GitRoom } from './git-room.js';
import { SCRATCH_IDENTITY } from './identity.js';
import { makeFolders } from './include-ignored.js';
import { keptParts, type KeptParts } from './kept-parts.js';
import { checkBranchName, requireCommit, resolveCommit, treeOf } from './refs.js';
import { commitTree, indexOfTree, withScratch } from './scratch.js';
import { realOr } from './worktree-entries.js';

const CHECKOUT_TIMEOUT_MS = 900_000;

/** See Git.restoreSalvaged. */
export async function restoreSalvaged(room: GitRoom, options: RestoreOptions): Promise<Restored> {
  const at = { repository: options.repository };
  const commit = await requireCommit(room, at, options.ref);
  const parts = await keptParts(room, at, commit);
  const { target } = options;
  if (target.kind === 'branch') return restoreBranch(room, options, parts, target.name);
  const path = await withRealParent(target.path);
  return (await isFree(path))
    ? restoreWorktree(room, options, parts, path)
    : restoreFiles(room, options, parts, path);
}

/** A new branch: the worker's commits, and its uncommitted files as one more commit. */
async function restoreBranch(
  room: GitRoom,
  { repository, ref }: RestoreOptions,
  parts: KeptParts,
  name: string,
): Promise<Restored> {
  const at = { repository };
  await checkBranchName(room, at, name);
  const taken = async () => (await resolveCommit(room, at, `refs/heads/${name}`)) !== null;
  if (await taken()) throw new OrchestratorError('BRANCH_IN_USE', { branch: name });
  const dirty = parts.tree !== (await treeOf(room, at, parts.head));
  const message = `Uncommitted work, kept as ${ref}\n`;
  const tip = { tree: parts.tree, parents: [parts.head], message, env: SCRATCH_IDENTITY };
  const commit = dirty ? await commitTree(room, at, tip) : parts.head;
  const args = ['update-ref', '-m', `agentorchestr: restored ${ref}`, `refs/heads/${name}`, commit, ''];
  await room.run(args, { at }).catch(async (error: unknown) => {
    throw (await taken()) ? new OrchestratorError('BRANCH_IN_USE', { branch: name }) : error;
  });
  const alsoKept = [...(parts.staged === null ? [] : [parts.staged]), ...parts.others];
  return { how: 'branch', commit, files: [], deletedFiles: [], ignoredFiles: [], alsoKept };
}

/** A worktree as it was: HEAD (detached), the staged state, the files. */
async function restoreWorktree(
  room: GitRoom,
  options: RestoreOptions,
  parts: KeptParts,
  path: string,
): Promise<Restored> {
  const { repository } = options;
  await createWorktree(room, { repository, path, branch: null, commit: parts.head });
  const at = { worktree: path };
  await room.run(['read-tree', '-m', '-u', 'HEAD', parts.tree], { at, timeoutMs: CHECKOUT_TIMEOUT_MS });
  await room.run(['read-tree', parts.staged ?? 'HEAD'], { at });
  await room.run(['update-index', '-q', '--refresh'], { at, answers: [0, 1] });
  const changed = await changesOf(room, repository, { from: parts.head, to: parts.tree });
  const ignoredFiles = await restoreIgnored(options.ignoredFrom, path, []);
  return { how: 'worktree', commit: parts.head, ...changed, ignoredFiles, alsoKept: parts.others };
}

/** Only what differs from the session's base, into a folder that has files: none of them is touched. */
async function restoreFiles(
  room: GitRoom,
  options: RestoreOptions,
  parts: KeptParts,
  path: string,
): Promise<Restored> {
  const { repository } = options;
  const at = { repository };
  const base = (await resolveCommit(room, at, options.base)) ?? parts.head;
  const changed = await changesOf(room, repository, { from: base, to: parts.tree });
  return withScratch(room, repository, async (scratch) => {
    const index = await indexOfTree(room, at, { scratch, tree: parts.tree, env: {} });
    const folder = join(scratch.directory, 'restored');
    await mkdir(folder);
    await checkOut(room, { repository, index, folder, files: changed.files });
    const ignored = await keptIgnored(options.ignoredFrom);
    const wanted = [
      ...changed.files.map((name) => ({ name, from: folder })),
      ...ignored.map((name) => ({ name, from: options.ignoredFrom ?? '' })),
    ];
    const inTheWay: string[] = [];
    for (const { name, from } of wanted)
      if (await isInTheWay(join(from, name), path, name)) inTheWay.push(name);
    if (inTheWay.length > 0) throw new OrchestratorError('RESTORE_IN_THE_WAY', { path, files: inTheWay });
    // One that came meanwhile is refused, not overwritten.
    await checkOut(room, { repository, index, folder: path, files: await missingOf(path, changed.files) });
    const ignoredFiles = await restoreIgnored(options.ignoredFrom, path, ignored);
    return { how: 'files', commit: parts.head, ...changed, ignoredFiles, alsoKept: parts.others };
  });
}

async function missingOf(root: string, files: readonly string[]): Promise<string[]> {
  const missing: string[] = [];
  for (const file of files) if (!(await isThere(join(root, file)))) missing.push(file);
  return missing;
}

async function changesOf(
  room: GitRoom,
  repository: string,
  trees: { from: string; to: string },
): Promise<{ files: string[]; deletedFiles: string[] }> {
  const changed = await changedPaths(room, { repository }, trees);
  const pathsOf = (isDeleted: boolean) =>
    changed.filter(({ kind }) => (kind === 'D') === isDeleted).map(({ path }) => path);
  return { files: pathsOf(false), deletedFiles: pathsOf(true) };
}

/** git itself refuses to write over a file or through a link. */
async function checkOut(
  room: GitRoom,
  {
    repository,
    index,
    folder,
    files,
  }: { repository: string; index: string; folder: string; files: string[] },
): Promise<void> {
  await room.run(['checkout-index', '-z', '--stdin'], {
    at: { gitDirectory: repository, workTree: folder },
    env: { GIT_INDEX_FILE: index },
    input: files.map((file) => `${file}\0`).join(''),
    timeoutMs: CHECKOUT_TIMEOUT_MS,
  });
}

/** Something else is there already; the same file is fine. */
async function isInTheWay(wanted: string, root: string, name: string): Promise<boolean> {
  for (let folder = dirname(name); folder !== '.'; folder = dirname(folder)) {
    const info = await lstat(join(root, folder)).catch(() => null);
    if (info !== null && !info.isDirectory()) return true;
  }
  const [source, there] = await Promise.all(
    [wanted, join(root, name)].map((path) => lstat(path).catch(() => null)),
  );
  if (there === null || there === undefined) return false;
  // A submodule leaves an empty folder.
  if (source?.isDirectory() === true) return !there.isDirectory();
  if (source?.isSymbolicLink() === true)
    return !there.isSymbolicLink() || (await readlink(wanted)) !== (await readlink(join(root, name)));
  return !there.isFile() || !(await readFile(wanted)).equals(await readFile(join(root, name)));
}

async function keptIgnored(from: string | null): Promise<readonly string[]> {
  return from === null ? [] : filesBelow(from);
}

/** Copies of ignored files come back as they are kept, for their owner only. */
async function restoreIgnored(
  from: string | null,
  to: string,
  checked: readonly string[],
): Promise<readonly string[]> {
  const restored: string[] = [];
  for (const name of checked.length > 0 ? checked : await keptIgnored(from)) {
    if (from === null || !(await makeFolders(to, dirname(name)))) continue;
    const target = join(to, name);
    const done = await copyFile(join(from, name), target, constants.COPYFILE_EXCL).then(
      () => chmod(target, 0o600).then(() => true),
      () => false,
    );
    if (done) restored.push(name);
  }
  return restored;
}

async function withRealParent(path: string): Promise<string> {
  return join(await realOr(dirname(path)), basename(path));
}

/** Not there, or an empty folder. */
async function isFree(path: string): Promise<boolean> {
  const info = await lstat(path).catch(() => null);
  if (info === null) return true;
  if (!info.isDirectory())
    throw new OrchestratorError('RESTORE_IN_THE_WAY', { path, files: ['it is no folder'] });
  return (await readdir(path)).length === 0;
}
