import { copyFile, lstat, mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GitRoom } from './git-room.js';
import { resolveCommit } from './refs.js';
import { splitZ } from './run-git.js';
import { setting } from './identity.js';

export interface Submodule {
  readonly name: string;
  readonly path: string;
}

/**
 * Fills the submodules of a new worktree from the repositories the user already has in `<repository>/modules/`: nothing
 * is downloaded, no prompt, and the shared config stays as it is (`git submodule update --init` would write it). Each
 * becomes a repository of its own that borrows the user's objects. One that the user never initialised stays empty.
 */
export async function populateSubmodules(
  room: GitRoom,
  where: { repository: string; worktree: string },
): Promise<void> {
  for (const submodule of await declaredSubmodules(room, where.worktree)) {
    const source = join(where.repository, 'modules', submodule.name);
    const target = join(where.worktree, submodule.path);
    const commit = await recordedCommit(room, where.worktree, submodule.path);
    if (
      commit === null ||
      !(await isInside(where.worktree, target)) ||
      !(await isFolder(join(source, 'objects')))
    )
      continue;
    if ((await resolveCommit(room, { repository: source }, commit)) === null) {
      room.logger.warn(
        { submodule: submodule.path, commit },
        'the submodule is not fetched at this commit; it stays empty',
      );
      continue;
    }
    await populate(room, { source, target, commit });
    await populateSubmodules(room, { repository: source, worktree: target });
  }
}

/** What `.gitmodules` of a working tree declares; names that leave their folder are refused, as git does. */
async function declaredSubmodules(room: GitRoom, worktree: string): Promise<readonly Submodule[]> {
  const file = join(worktree, '.gitmodules');
  if (!((await lstat(file).catch(() => null))?.isFile() ?? false)) return [];
  const args = ['config', '-z', '--file', file, '--get-regexp', '^submodule\\..*\\.path$'];
  const found = await room.run(args, { at: { worktree }, answers: [0, 1] });
  return splitZ(found.raw)
    .map((entry) => {
      const end = entry.indexOf('\n');
      return { name: entry.slice('submodule.'.length, end - '.path'.length), path: entry.slice(end + 1) };
    })
    .filter(
      ({ name, path }) =>
        ![name, path].some((text) => text.startsWith('/') || text.split('/').includes('..')),
    );
}

async function recordedCommit(room: GitRoom, worktree: string, path: string): Promise<string | null> {
  const found = await room.run(['ls-files', '--stage', '-z', '--', `:(top,literal)${path}`], {
    at: { worktree },
  });
  return /^160000 ([0-9a-f]+) /.exec(found.raw)?.[1] ?? null;
}

async function populate(
  room: GitRoom,
  options: { source: string; target: string; commit: string },
): Promise<void> {
  const { source, target, commit } = options;
  const at = { worktree: target };
  await room.run(['init', '--quiet', '--template=', '--initial-branch=main'], { at });
  const git = join(target, '.git');
  await mkdir(join(git, 'objects', 'info'), { recursive: true });
  await writeFile(join(git, 'objects', 'info', 'alternates'), `${join(source, 'objects')}\n`);
  await copyFile(join(source, 'shallow'), join(git, 'shallow')).catch(() => undefined);
  const url = await setting(room, { repository: source }, 'remote.origin.url');
  if (url !== null) await room.run(['config', 'remote.origin.url', url], { at });
  await room.run(['update-ref', '--no-deref', 'HEAD', commit], { at });
  await room.run(['reset', '--hard', '--quiet'], { at, timeoutMs: 300_000 });
}

async function isFolder(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null))?.isDirectory() ?? false;
}

async function isInside(worktree: string, target: string): Promise<boolean> {
  if (!(await isFolder(target))) return false;
  return (await realpath(target)).startsWith(`${await realpath(worktree)}/`);
}

/** The submodules of a worktree that `populateSubmodules` (or the agent) filled, with the user's repository of each. */
export async function populatedSubmodules(
  room: GitRoom,
  where: { repository: string; worktree: string },
): Promise<readonly (Submodule & { folder: string; source: string })[]> {
  const all = (await declaredSubmodules(room, where.worktree)).map((submodule) => ({
    ...submodule,
    folder: join(where.worktree, submodule.path),
    source: join(where.repository, 'modules', submodule.name),
  }));
  const filled = await Promise.all(
    all.map(async ({ folder }) => {
      const git = join(folder, '.git');
      const info = await lstat(git).catch(() => null);
      // `git submodule update` of an agent leaves a file that names the git directory.
      return info?.isFile() === true || (await readFile(join(git, 'HEAD')).catch(() => null)) !== null;
    }),
  );
  return all.filter((_submodule, index) => filled[index]);
}
