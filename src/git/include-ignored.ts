import { constants } from 'node:fs';
import { copyFile, lstat, mkdir, readlink, realpath, symlink } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { Place } from './git-environment.js';
import type { GitRoom } from './git-room.js';
import { isOwnFile } from './own-files.js';
import { splitZ } from './run-git.js';
import { withScratch } from './scratch.js';

const INCLUDE_FILE = '.worktreeinclude';

/** See Git.includeIgnored. Returns the files that were brought, relative to the worktree. */
export async function includeIgnored(
  room: GitRoom,
  options: { project: string; worktree: string },
): Promise<readonly string[]> {
  const project = await realpath(options.project);
  const worktree = await realpath(options.worktree);
  const top = await topOf(room, project);
  const brought: string[] = [];
  // A project below the top may have a list of its own beside the repository's.
  for (const folder of new Set([top, project]))
    for (const name of await listedIgnored(room, folder)) {
      const path = join(relative(top, folder), name);
      if (isOwnFile(path) || join(top, path).startsWith(`${worktree}/`)) continue;
      if (await bring({ project: top, worktree, path })) brought.push(path);
    }
  return brought;
}

/** The top of the checkout that a folder is in; the folder itself when it is in none. */
export async function topOf(room: GitRoom, folder: string): Promise<string> {
  const found = await room.run(['rev-parse', '--show-toplevel'], { at: { folder }, answers: [0, 128] });
  return found.code === 0 && found.text !== '' ? realpath(found.text) : folder;
}

/** Files of the project that git ignores and `.worktreeinclude` names; never those of repositories or worktrees inside it. */
export async function listedIgnored(room: GitRoom, project: string): Promise<readonly string[]> {
  const file = join(project, INCLUDE_FILE);
  if (!((await lstat(file).catch(() => null))?.isFile() ?? false)) return [];
  return atProject(room, project, async (at) => {
    const args = ['ls-files', '--others', '--ignored', '-z', `--exclude-from=${file}`];
    const listed = splitZ((await room.run(args, { at })).raw).filter((path) => !path.endsWith('/'));
    if (listed.length === 0) return [];
    const input = listed.map((path) => `${path}\0`).join('');
    return splitZ((await room.run(['check-ignore', '-z', '--stdin'], { at, input, answers: [0, 1] })).raw);
  });
}

/** A folder without git has ignore rules too: a passing empty repository reads them. */
async function atProject<T>(room: GitRoom, project: string, work: (at: Place) => Promise<T>): Promise<T> {
  const at = { folder: project };
  const inside = await room.run(['rev-parse', '--is-inside-work-tree'], { at, answers: [0, 128] });
  if (inside.code === 0) return work(at);
  return withScratch(room, project, async (scratch) => {
    const gitDirectory = join(scratch.directory, 'rules.git');
    await room.run(['init', '--quiet', '--bare', '--template=', '--', gitDirectory], {
      at: { folder: scratch.directory },
    });
    return work({ gitDirectory, workTree: project });
  });
}

async function bring(options: { project: string; worktree: string; path: string }): Promise<boolean> {
  const source = join(options.project, options.path);
  const target = join(options.worktree, options.path);
  const info = await lstat(source).catch(() => null);
  if (info === null || (await lstat(target).catch(() => null)) !== null) return false;
  if (!(await makeFolders(options.worktree, dirname(options.path)))) return false;
  if (info.isSymbolicLink()) return bringLink({ ...options, source, target });
  if (!info.isFile()) return false;
  await copyFile(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  return true;
}

/** Makes the folders below `root` one by one; false where something else, or a symbolic link that leads away, is in the way. */
export async function makeFolders(root: string, below: string, mode?: number): Promise<boolean> {
  let folder = root;
  for (const name of below.split('/').filter((part) => part !== '' && part !== '.')) {
    folder = join(folder, name);
    await mkdir(folder, mode === undefined ? {} : { mode }).catch(() => undefined);
    if (!((await lstat(folder).catch(() => null))?.isDirectory() ?? false)) return false;
  }
  return true;
}

/** A link is brought as a link, and only if it is relative and stays inside the project. */
async function bringLink(options: { project: string; source: string; target: string }): Promise<boolean> {
  const text = await readlink(options.source);
  const leadsTo = resolve(dirname(options.source), text);
  const real = await realpath(leadsTo).catch(() => leadsTo);
  const inside = [leadsTo, real].every((path) => path.startsWith(`${options.project}/`));
  if (isAbsolute(text) || !inside) return false;
  await symlink(text, options.target);
  return true;
}
