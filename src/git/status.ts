import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OrchestratorError } from '../core/errors/error.js';
import type { WorktreeStatus } from './contract.js';
import type { Place } from './git-environment.js';
import type { GitRoom } from './git-room.js';
import { ALL_BUT_OWN } from './own-files.js';
import { identityEnvironment } from './identity.js';
import { embeddedRepositories, retryWhileIndexIsLocked, unstage, unstageOwnFiles } from './index-edits.js';
import { resolveCommit } from './refs.js';
import { splitZ } from './run-git.js';

export interface Change {
  /** The two letters of `git status`: index, working tree. */
  readonly code: string;
  readonly path: string;
}

const UNMERGED = /^(DD|AU|UD|UA|DU|AA|UU)$/;

/** Changed, staged and untracked files (ignored ones and ours left out); nothing is refreshed or written. */
export async function changes(room: GitRoom, at: Place): Promise<readonly Change[]> {
  const args = [
    'status',
    '--porcelain=v1',
    '-z',
    '--untracked-files=all',
    '--no-renames',
    '--ignore-submodules=none',
    '--',
    ...ALL_BUT_OWN,
  ];
  const { raw } = await room.run(args, { at });
  return splitZ(raw).map((line) => ({ code: line.slice(0, 2), path: line.slice(3) }));
}

export async function changedFiles(room: GitRoom, at: Place): Promise<readonly string[]> {
  return (await changes(room, at)).map((change) => change.path).sort();
}

export async function worktreeStatus(room: GitRoom, worktree: string, base: string): Promise<WorktreeStatus> {
  const at = { worktree };
  const [head, files, beyond] = await Promise.all([
    room.run(['rev-parse', '--verify', 'HEAD'], { at }),
    changedFiles(room, at),
    room.run(['rev-list', '--count', '--end-of-options', `${base}..HEAD`], { at }),
  ]);
  return { head: head.text, changedFiles: files, commitsBeyondBase: Number(beyond.text) };
}

export async function commitsBeyond(
  room: GitRoom,
  { repository, ref, base }: { repository: string; ref: string; base: string },
): Promise<number> {
  const at = { repository };
  const commit = await resolveCommit(room, at, ref);
  if (commit === null) return 0;
  return Number(
    (await room.run(['rev-list', '--count', '--end-of-options', `${base}..${commit}`], { at })).text,
  );
}

/** See Git.commitAll. Concludes a merge the agent left open; refuses unresolved conflicts and folders that are repositories. */
export async function commitAll(room: GitRoom, worktree: string, message: string): Promise<string | null> {
  const at = { worktree };
  const open = await unresolved(room, worktree, await changes(room, at));
  if (open.length > 0) throw commitProblem(`conflicts are not resolved: ${open.join(', ')}`);
  return retryWhileIndexIsLocked(room, async () => {
    await unstageOwnFiles(room, at, {});
    await room.run(['add', '--all', '--', ...ALL_BUT_OWN], { at });
    const embedded = await embeddedRepositories(room, at, {});
    if (embedded.length > 0) {
      await unstage(room, at, embedded, {});
      throw commitProblem(`these folders are git repositories of their own: ${embedded.join(', ')}`);
    }
    const same =
      (await room.run(['diff', '--cached', '--quiet', '--ignore-submodules=none'], { at, answers: [0, 1] }))
        .code === 0;
    const merging =
      (await room.run(['rev-parse', '--verify', '--quiet', 'MERGE_HEAD'], { at, answers: [0, 1] })).code ===
      0;
    if (same && !merging) return null;
    const args = [
      'commit',
      '--quiet',
      '--no-verify',
      '--allow-empty',
      '--allow-empty-message',
      '--cleanup=verbatim',
      '--file=-',
    ];
    await room.run(args, { at, input: message, env: await identityEnvironment(room, at) });
    return (await room.run(['rev-parse', '--verify', 'HEAD'], { at })).text;
  });
}

const MARKER = /^(<{7}|>{7}) /m;

/**
 * Conflicts that are still open. An agent often edits the file and forgets `git add`: content without conflict markers
 * that is not simply our side counts as resolved. A deletion against an edit is only resolved by `git add` or `git rm`.
 */
async function unresolved(
  room: GitRoom,
  worktree: string,
  all: readonly Change[],
): Promise<readonly string[]> {
  const at = { worktree };
  const open: string[] = [];
  for (const { code, path } of all.filter((change) => UNMERGED.test(change.code))) {
    const content = await readFile(join(worktree, path), 'latin1').catch(() => null);
    if ((code === 'UU' || code === 'AA') && content !== null && !MARKER.test(content)) {
      const ours = await room.run(['rev-parse', '--verify', '--quiet', `:2:${path}`], {
        at,
        answers: [0, 1],
      });
      const now = await room.run(['hash-object', '--', path], { at });
      if (ours.text !== now.text) continue;
    }
    open.push(path);
  }
  return open;
}

function commitProblem(problem: string): OrchestratorError {
  return new OrchestratorError('GIT_FAILED', {
    command: 'commit',
    problem,
    hint: 'resolve that in the worktree, and try again',
  });
}
