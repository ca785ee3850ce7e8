import { lstat, mkdir, rename, rm } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { randomBytes } from 'node:crypto';
import { OrchestratorError } from '../core/errors/error.js';
import { ensurePrivateDirectory } from '../platform/files.js';
import { embeddedPart } from './base-statement.js';
import type { BaseOptions, SessionBase } from './contract.js';
import type { Environment, Place } from './git-environment.js';
import type { GitRoom } from './git-room.js';
import { SCRATCH_IDENTITY } from './identity.js';
import { forget } from './index-edits.js';
import { ALL_BUT_OWN } from './own-files.js';
import { splitZ } from './run-git.js';
import { commitTree, withScratch } from './scratch.js';

const IMPORT_LIMIT_BYTES = 200 * 1024 * 1024;

const BRANCH = 'imported';

/**
 * A folder without git as the first commit of a private bare repository (objects, no second copy of the files). The
 * folder's `.gitignore` files and the user's global excludes hold. The folder itself is only read.
 */
export async function importFolder(room: GitRoom, options: BaseOptions): Promise<SessionBase> {
  const { project } = options.facts;
  await ensurePrivateDirectory(options.importRoot);
  const repository = join(options.importRoot, `${basename(project) || 'root'}-${options.sessionId}.git`);
  const building = `${repository}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    await mkdir(building, { mode: 0o700 });
    await room.run(
      ['init', '--quiet', '--bare', '--template=', `--initial-branch=${BRANCH}`, '--', building],
      { at: { folder: options.importRoot } },
    );
    const size = await checkSize(room, { project, gitDirectory: building, importRoot: options.importRoot });
    const tree = await folderTree(room, { project, gitDirectory: building, importRoot: options.importRoot });
    const message = `${project} as it was when session ${options.sessionId} began\n`;
    const commit = await commitTree(
      room,
      { repository: building },
      { tree: tree.tree, parents: [], message, env: SCRATCH_IDENTITY },
    );
    await room.run(['update-ref', `refs/heads/${BRANCH}`, commit], { at: { repository: building } });
    // A crashed start of the same session may have left one; it held nothing but this.
    await rm(repository, { recursive: true, force: true });
    await rename(building, repository);
    const left = tree.embedded.length === 0 ? '' : `; ${embeddedPart(tree.embedded)}`;
    const statement = `base: a private copy of ${project} (not a git repository; ${size.files} files, ${megabytes(size.bytes)})${left}`;
    return { repository, commit, subdirectory: '', statement, imported: true };
  } finally {
    await rm(building, { recursive: true, force: true });
  }
}

export interface FolderPlace {
  readonly project: string;
  readonly gitDirectory: string;
  /** Left out of the tree when it lies inside the project. */
  readonly importRoot: string;
}

/** The folder's files as a tree of the private repository. */
export async function folderTree(
  room: GitRoom,
  place: FolderPlace,
): Promise<{ tree: string; embedded: readonly string[] }> {
  const at = { gitDirectory: place.gitDirectory, workTree: place.project };
  return withScratch(room, place.gitDirectory, async (scratch) => {
    const env = { GIT_INDEX_FILE: join(scratch.directory, 'index') };
    await room.run(['add', '--all', '--', ...pathspecs(place)], { at, env, timeoutMs: 300_000 });
    const embedded = await dropEmbedded(room, at, env);
    return { tree: (await room.run(['write-tree'], { at, env })).text, embedded };
  });
}

/** Repositories inside the folder were taken in as links; their files cannot be part of a tree. */
async function dropEmbedded(room: GitRoom, at: Place, env: Environment): Promise<readonly string[]> {
  const links = splitZ((await room.run(['ls-files', '--stage', '-z'], { at, env })).raw)
    .filter((line) => line.startsWith('160000 '))
    .map((line) => line.slice(line.indexOf('\t') + 1));
  await forget(room, at, links, env);
  return links;
}

function pathspecs(place: FolderPlace): readonly string[] {
  const inside = relative(place.project, place.importRoot);
  const own = inside === '' || inside.startsWith('..') ? [] : [`:(exclude,top,literal)${inside}`];
  return [...ALL_BUT_OWN, ...own];
}

async function checkSize(room: GitRoom, place: FolderPlace): Promise<{ files: number; bytes: number }> {
  const at = { gitDirectory: place.gitDirectory, workTree: place.project };
  const listed = await room.run(
    ['ls-files', '--others', '--exclude-standard', '-z', '--', ...pathspecs(place)],
    { at, cut: true },
  );
  const files = splitZ(listed.raw);
  let bytes = 0;
  for (const file of files) {
    bytes += (await lstat(join(place.project, file)).catch(() => null))?.size ?? 0;
    if (bytes > IMPORT_LIMIT_BYTES) break;
  }
  if (!listed.truncated && bytes <= IMPORT_LIMIT_BYTES) return { files: files.length, bytes };
  throw new OrchestratorError('NOT_A_PROJECT', {
    path: place.project,
    problem: `it is not a git repository and has more than ${IMPORT_LIMIT_BYTES / 1024 / 1024} MiB of files to copy`,
    hint: 'name what is not needed in a .gitignore file there, or make it a repository: git init, and a first commit',
  });
}

function megabytes(bytes: number): string {
  return bytes < 100_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
