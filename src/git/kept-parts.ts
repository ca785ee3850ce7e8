import type { Place } from './git-environment.js';
import type { GitRoom } from './git-room.js';
import { treeOf } from './refs.js';
import { KEPT_SUBJECT, STAGED_SUBJECT } from './salvage.js';
import { SCRATCH_IDENTITY } from './identity.js';

/** What a salvage commit is made of. A ref may also point at a commit of the worker's own: then that is all. */
export interface KeptParts {
  readonly head: string;
  readonly tree: string;
  /** The tree of what was staged; null where nothing was, or the same as the files. */
  readonly staged: string | null;
  /** Stashes, loose commits and earlier salvages. */
  readonly others: readonly string[];
}

export async function keptParts(room: GitRoom, at: Place, commit: string): Promise<KeptParts> {
  const shown = await room.run(['show', '--no-patch', '--format=%T%n%P%n%ce%n%s', commit], { at });
  const [tree = '', parentLine = '', email = '', subject = ''] = shown.text.split('\n');
  const parents = parentLine.split(' ').filter((parent) => parent !== '');
  const [head, ...extra] = parents;
  const isOurs = email === SCRATCH_IDENTITY['GIT_COMMITTER_EMAIL'] && subject.startsWith(KEPT_SUBJECT);
  if (!isOurs || head === undefined) return { head: commit, tree, staged: null, others: [] };
  const subjects = await Promise.all(
    extra.map(async (parent) => (await room.run(['show', '--no-patch', '--format=%s', parent], { at })).text),
  );
  const stagedAt = subjects.indexOf(STAGED_SUBJECT);
  const staged = stagedAt === -1 ? null : await treeOf(room, at, extra[stagedAt] ?? '');
  return { head, tree, staged, others: extra.filter((_parent, index) => index !== stagedAt) };
}
