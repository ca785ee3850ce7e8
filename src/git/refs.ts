import { OrchestratorError } from '../core/errors/error.js';
import type { GitRoom } from './git-room.js';
import type { Place } from './git-environment.js';

/** The commit behind a name; null when there is none. A name that looks like an option is never one. */
export async function resolveCommit(room: GitRoom, at: Place, name: string): Promise<string | null> {
  if (name === '' || name.startsWith('-') || name.includes('\0')) return null;
  // Only for an upstream or reflog entry that is not there does git say 128; else that is a repository it cannot read.
  const answers = name.includes('@{') ? [0, 1, 128] : [0, 1];
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
  const found = await room.run(args, { at, answers });
  return found.code === 0 ? found.text : null;
}

export async function requireCommit(room: GitRoom, at: Place, name: string): Promise<string> {
  const commit = await resolveCommit(room, at, name);
  if (commit === null) throw new OrchestratorError('REF_NOT_FOUND', { ref: name });
  return commit;
}

export async function isAncestor(
  room: GitRoom,
  at: Place,
  ancestor: string,
  descendant: string,
): Promise<boolean> {
  return (
    (await room.run(['merge-base', '--is-ancestor', ancestor, descendant], { at, answers: [0, 1] })).code ===
    0
  );
}

/** The best common ancestor; null for unrelated histories. */
export async function mergeBase(room: GitRoom, at: Place, a: string, b: string): Promise<string | null> {
  const found = await room.run(['merge-base', a, b], { at, answers: [0, 1] });
  return found.code === 0 ? found.text : null;
}

export async function treeOf(room: GitRoom, at: Place, commit: string): Promise<string> {
  return (await room.run(['rev-parse', '--verify', '--end-of-options', `${commit}^{tree}`], { at })).text;
}

/** Names that git takes for certain, like those of our own branches: to ask it would cost a process each time. */
const PLAIN_NAME = /^[a-z0-9][a-z0-9_-]*(\/[a-z0-9][a-z0-9_-]*)*$/i;

/** Throws INVALID_INPUT unless git would take it as a branch name. */
export async function checkBranchName(room: GitRoom, at: Place, branch: string): Promise<void> {
  const good =
    PLAIN_NAME.test(branch) ||
    (!branch.startsWith('-') &&
      (await room.run(['check-ref-format', `refs/heads/${branch}`], { at, answers: [0, 1] })).code === 0);
  if (!good)
    throw new OrchestratorError('INVALID_INPUT', {
      field: 'branch',
      problem: `"${branch}" is not a branch name`,
    });
}

/** The branch HEAD is on; null when detached. */
export async function currentBranch(room: GitRoom, at: Place): Promise<string | null> {
  const found = await room.run(['symbolic-ref', '--quiet', '--short', 'HEAD'], { at, answers: [0, 1] });
  return found.code === 0 ? found.text : null;
}

export function shortCommit(commit: string): string {
  return commit.slice(0, 7);
}
