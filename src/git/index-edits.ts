import { delay } from '../core/clock.js';
import type { Environment, Place } from './git-environment.js';
import type { GitRoom } from './git-room.js';
import { OrchestratorError } from '../core/errors/error.js';
import { ONLY_OWN } from './own-files.js';
import { splitZ } from './run-git.js';

const LOCK_PAUSE_MS = 100;
const LOCK_TRIES = 50;

/** An agent may run a git of its own in the same tree: its index lock is waited for (5 s), never broken. */
export async function retryWhileIndexIsLocked<T>(room: GitRoom, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const locked = error instanceof OrchestratorError && /index\.lock/.test(error.message);
      if (!locked || attempt === LOCK_TRIES) throw error;
      await delay(room.clock, LOCK_PAUSE_MS);
    }
  }
}

/** Files of ours that an agent staged by force come out of the index again. */
export async function unstageOwnFiles(room: GitRoom, at: Place, env: Environment): Promise<void> {
  const args = ['diff', '--cached', '--name-only', '-z', '--no-renames', '--', ...ONLY_OWN];
  await unstage(room, at, splitZ((await room.run(args, { at, env })).raw), env);
}

export async function unstage(
  room: GitRoom,
  at: Place,
  paths: readonly string[],
  env: Environment,
): Promise<void> {
  if (paths.length === 0) return;
  await room.run(['reset', '--quiet', '--', ...paths.map((path) => `:(top,literal)${path}`)], { at, env });
}

/** Takes paths out of an index as if it had never seen them; the files stay. */
export async function forget(
  room: GitRoom,
  at: Place,
  paths: readonly string[],
  env: Environment,
): Promise<void> {
  if (paths.length === 0) return;
  const input = paths.map((path) => `${path}\0`).join('');
  await room.run(['update-index', '--force-remove', '-z', '--stdin'], { at, env, input });
}

/**
 * Folders that `git add` just took in as links to repositories of their own (an agent cloned or initialised one), and
 * that are no submodules: such a link names a commit nobody else has. Paths relative to the top.
 */
export async function embeddedRepositories(
  room: GitRoom,
  at: Place,
  env: Environment,
): Promise<readonly string[]> {
  const staged = await room.run(
    ['diff', '--cached', '--raw', '-z', '--no-renames', '--no-abbrev', '--ignore-submodules=none'],
    { at, env },
  );
  const fields = splitZ(staged.raw);
  const added: string[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2)
    if (fields[index]?.startsWith(':000000 160000 ')) added.push(fields[index + 1] ?? '');
  if (added.length === 0) return [];
  const declared = await submodulePaths(room, at, env);
  return added.filter((path) => !declared.has(path));
}

async function submodulePaths(room: GitRoom, at: Place, env: Environment): Promise<ReadonlySet<string>> {
  const args = ['config', '-z', '--blob', ':.gitmodules', '--get-regexp', '^submodule\\..*\\.path$'];
  const found = await room.run(args, { at, env, answers: [0, 1, 128] });
  if (found.code !== 0) return new Set();
  return new Set(splitZ(found.raw).map((entry) => entry.slice(entry.indexOf('\n') + 1)));
}
