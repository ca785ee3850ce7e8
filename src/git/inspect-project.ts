import { readdir, realpath, stat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { OrchestratorError } from '../core/errors/error.js';
import type { ProjectFacts } from './contract.js';
import type { Place } from './git-environment.js';
import type { GitRoom } from './git-room.js';
import { currentBranch, resolveCommit } from './refs.js';
import { shellQuote } from '../platform/shell-quote.js';
import { changes } from './status.js';

/** See Git.inspectProject. Reads only; the user's index is not even refreshed. */
export async function inspectProject(room: GitRoom, project: string): Promise<ProjectFacts> {
  const folder = await existingFolder(project);
  const place = await locate(room, folder);
  if (place === null) return { ...PLAIN, project: folder };
  const { repository, checkout } = place;
  const at: Place = checkout === null ? { repository } : { folder };
  const [head, branch] = await Promise.all([headCommit(room, at, folder), currentBranch(room, at)]);
  const subdirectory = checkout === null ? '' : relative(checkout, folder);
  if (subdirectory !== '') await checkTracked(room, at, { folder, subdirectory, checkout: checkout ?? '' });
  const [upstream, uncommitted, submodules, lfs] = await Promise.all([
    upstreamOf(room, at, { repository, branch }),
    checkout === null ? [] : changes(room, at),
    hasSubmodules(room, at),
    usesLfs(room, at),
  ]);
  return {
    project: folder,
    repository,
    checkout,
    subdirectory,
    head,
    branch,
    upstream,
    uncommittedFiles: uncommitted.map(({ path }) => path).sort(),
    newFiles: uncommitted.filter(({ code }) => code === '??' || code.startsWith('A')).map(({ path }) => path),
    submodules,
    lfs,
  };
}

const PLAIN: Omit<ProjectFacts, 'project'> = {
  repository: null,
  checkout: null,
  subdirectory: '',
  head: null,
  branch: null,
  upstream: null,
  uncommittedFiles: [],
  newFiles: [],
  submodules: false,
  lfs: false,
};

function notAProject(path: string, problem: string, hint?: string): OrchestratorError {
  return new OrchestratorError('NOT_A_PROJECT', { path, problem, ...(hint === undefined ? {} : { hint }) });
}

async function existingFolder(project: string): Promise<string> {
  const info = await stat(project).catch((error: NodeJS.ErrnoException) => {
    throw notAProject(project, error.code === 'ENOENT' ? 'it does not exist' : error.message);
  });
  if (!info.isDirectory()) throw notAProject(project, 'it is not a folder');
  return realpath(project);
}

interface Located {
  readonly repository: string;
  /** null: bare. */
  readonly checkout: string | null;
}

/** Where the repository of a folder is; null when it is in none. Throws NOT_A_PROJECT with git's own reason and the fix. */
async function locate(room: GitRoom, folder: string): Promise<Located | null> {
  const at = { folder };
  const ask = async (...questions: string[]) => (await room.run(['rev-parse', ...questions], { at })).text;
  let answers: string[];
  try {
    const facts = ['--is-bare-repository', '--is-inside-git-dir', '--is-inside-work-tree'];
    answers = (await ask(...facts, '--git-common-dir')).split('\n');
  } catch (error) {
    return explainNoRepository(folder, error);
  }
  // A path may hold newlines, so only the last thing asked for can be one.
  const [bare, insideGit, insideTree, ...path] = answers;
  const repository = await realpath(resolve(folder, path.join('\n')));
  if (insideTree === 'true') return { repository, checkout: await realpath(await ask('--show-toplevel')) };
  if (bare === 'true' && (insideGit === 'false' || folder === repository))
    return { repository, checkout: null };
  throw notAProject(
    folder,
    'it is inside a git directory',
    'give the folder with the files: the one that holds .git',
  );
}

function explainNoRepository(folder: string, error: unknown): null {
  if (!(error instanceof OrchestratorError) || error.code !== 'GIT_FAILED') throw error;
  const reason = String(error.params['problem']);
  if (/not a git repository \(or any/.test(reason)) return null;
  if (/dubious ownership|unsafe repository/.test(reason)) {
    const owned = /(?:repository at|unsafe repository) \(?'([^']+)'/.exec(reason)?.[1] ?? folder;
    throw notAProject(
      folder,
      'its git repository belongs to another user, so git refuses to read it',
      `if you trust it: git config --global --add safe.directory ${shellQuote(owned)}`,
    );
  }
  throw new OrchestratorError(
    'NOT_A_PROJECT',
    { path: folder, problem: reason, hint: 'make git status work there first' },
    { cause: error },
  );
}

async function headCommit(room: GitRoom, at: Place, folder: string): Promise<string> {
  const head = await resolveCommit(room, at, 'HEAD');
  if (head !== null) return head;
  const branches = await room.run(['for-each-ref', '--count=1', '--format=%(refname:short)', 'refs/heads'], {
    at,
  });
  if (branches.text === '') throw new OrchestratorError('NO_COMMITS', { path: folder });
  const wanted = await currentBranch(room, at);
  throw notAProject(
    folder,
    `its HEAD names a branch without commits (${wanted ?? 'none'})`,
    `switch to a branch that has commits, for instance: git -C ${shellQuote(folder)} symbolic-ref HEAD refs/heads/${branches.text}`,
  );
}

/** A plain folder below someone's repository (a home folder under git, say): its files are in no commit, so no worktree would have them. */
async function checkTracked(
  room: GitRoom,
  at: Place,
  where: { folder: string; subdirectory: string; checkout: string },
): Promise<void> {
  const found = await room.run(['ls-tree', '-d', '-z', '--full-tree', 'HEAD', '--', where.subdirectory], {
    at,
  });
  if (found.raw !== '') return;
  throw notAProject(
    where.folder,
    `it lies in the repository ${where.checkout}, but no commit there holds it`,
    `commit it there, or make it a repository of its own: git init ${shellQuote(where.folder)} and a first commit`,
  );
}

async function upstreamOf(
  room: GitRoom,
  at: Place,
  where: { repository: string; branch: string | null },
): Promise<ProjectFacts['upstream']> {
  if (where.branch === null) return null;
  const configured = await room.run(['for-each-ref', '--format=%(upstream)', `refs/heads/${where.branch}`], {
    at,
  });
  const candidates = [configured.text, `refs/remotes/origin/${where.branch}`];
  for (const ref of candidates) {
    if (ref === '' || (await resolveCommit(room, at, ref)) === null) continue;
    const counts = (await room.run(['rev-list', '--left-right', '--count', `HEAD...${ref}`], { at })).text
      .split(/\s+/)
      .map(Number);
    const name = ref.replace(/^refs\/(remotes|heads)\//, '');
    return {
      name,
      ahead: counts[0] ?? 0,
      behind: counts[1] ?? 0,
      fetchedAt: await lastFetch(where.repository, ref),
    };
  }
  return null;
}

/** The newest sign of a fetch: FETCH_HEAD of any working tree, else the last move of the remote branch (a clone leaves no FETCH_HEAD). */
async function lastFetch(repository: string, ref: string): Promise<string | null> {
  const trees = await readdir(join(repository, 'worktrees')).catch(() => []);
  const signs = [
    join(repository, 'FETCH_HEAD'),
    ...trees.map((id) => join(repository, 'worktrees', id, 'FETCH_HEAD')),
  ];
  const newest = await newestOf(signs);
  if (newest !== null) return newest;
  return newestOf([
    join(repository, 'logs', ref),
    join(repository, 'logs', 'refs', 'remotes', 'origin', 'HEAD'),
  ]);
}

async function newestOf(paths: readonly string[]): Promise<string | null> {
  const times = await Promise.all(
    paths.map((path) =>
      stat(path).then(
        (info) => info.mtimeMs,
        () => 0,
      ),
    ),
  );
  const newest = Math.max(0, ...times);
  return newest === 0 ? null : new Date(newest).toISOString();
}

async function hasSubmodules(room: GitRoom, at: Place): Promise<boolean> {
  return (await room.run(['ls-tree', '-z', '--full-tree', 'HEAD', '--', '.gitmodules'], { at })).raw !== '';
}

async function usesLfs(room: GitRoom, at: Place): Promise<boolean> {
  const args = [
    'grep',
    '--quiet',
    '-e',
    'filter=lfs',
    'HEAD',
    '--',
    ':(top).gitattributes',
    ':(top,glob)**/.gitattributes',
  ];
  return (await room.run(args, { at, answers: [0, 1] })).code === 0;
}
