import type { HeldRef } from './contract.js';
import type { GitRoom } from './git-room.js';
import { resolveCommit } from './refs.js';

/** See Git.sessionBranches. */
export async function sessionBranches(
  room: GitRoom,
  repository: string,
  sessionId: string,
): Promise<readonly HeldRef[]> {
  const args = [
    'for-each-ref',
    '--format=%(objectname) %(refname)',
    `refs/heads/agentorchestr/${sessionId}/`,
  ];
  const listed = await room.run(args, { at: { repository } });
  return listed.text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({
      commit: line.slice(0, line.indexOf(' ')),
      name: line.slice(line.indexOf(' ') + 1 + 'refs/heads/'.length),
    }));
}

/**
 * See Git.isHeld. No branch of ours counts, whichever session's: two that are cleaned at once would each rely on the
 * other's.
 */
export async function isHeld(
  room: GitRoom,
  options: { repository: string; commit: string; alsoBy: readonly string[] },
): Promise<boolean> {
  const args = [
    'rev-list',
    '--max-count=1',
    options.commit,
    '--not',
    '--exclude=agentorchestr/*',
    '--branches',
    '--tags',
    '--remotes',
    '--glob=refs/agentorchestr/salvage/*',
    '--glob=refs/agentorchestr/base/*',
    ...options.alsoBy,
  ];
  return (await room.run(args, { at: { repository: options.repository } })).text === '';
}

/** See Git.keepCommit. */
export async function keepCommit(
  room: GitRoom,
  options: { repository: string; ref: string; commit: string },
): Promise<string> {
  const at = { repository: options.repository };
  for (let number = 1; ; number += 1) {
    const ref = number === 1 ? options.ref : `${options.ref}-${number}`;
    const there = await resolveCommit(room, at, ref);
    if (there === options.commit) return ref;
    if (there !== null) continue;
    await room.run(['update-ref', ref, options.commit, ''], { at });
    return ref;
  }
}
