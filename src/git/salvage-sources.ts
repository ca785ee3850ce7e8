import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isThere } from '../platform/disk.js';
import type { SalvageOptions } from './contract.js';
import type { Place } from './git-environment.js';
import type { GitRoom } from './git-room.js';
import { currentBranch, isAncestor, requireCommit, resolveCommit } from './refs.js';
import { splitZ } from './run-git.js';
import { entryOf } from './worktree-entries.js';

const LOOSE_LIMIT = 50;
const VISITED_LIMIT = 1_000;

/** A worktree as git sees it: with its files, or only the entry that is left of it. */
export interface Source {
  readonly at: Place;
  readonly gitDirectory: string;
  readonly index: string;
  readonly hasFiles: boolean;
}

export async function sourceOf(
  room: GitRoom,
  options: Pick<SalvageOptions, 'repository' | 'worktree'>,
): Promise<Source> {
  const { worktree, repository } = options;
  if (await isThere(worktree)) {
    const at = { worktree };
    const gitDirectory = (await room.run(['rev-parse', '--absolute-git-dir'], { at })).text;
    return { at, gitDirectory, index: join(gitDirectory, 'index'), hasFiles: true };
  }
  const entry = await entryOf(repository, worktree);
  if (entry === null) return { at: { repository }, gitDirectory: '', index: '', hasFiles: false };
  return { at: { repository: entry }, gitDirectory: entry, index: join(entry, 'index'), hasFiles: false };
}

/** HEAD; where its branch was deleted under it, the last commit that was checked out here. */
export async function headOf(
  room: GitRoom,
  source: Source,
  options: Pick<SalvageOptions, 'base' | 'branch'>,
): Promise<string> {
  const { at, gitDirectory } = source;
  const head = gitDirectory === '' ? null : await resolveCommit(room, at, 'HEAD');
  if (head !== null) return head;
  for (const visited of (await reflogOf(gitDirectory)).reverse()) {
    const commit = await resolveCommit(room, at, visited);
    if (commit !== null) return commit;
  }
  const branch = options.branch ?? null;
  const tip = branch === null ? null : await resolveCommit(room, at, `refs/heads/${branch}`);
  return tip ?? requireCommit(room, at, options.base);
}

/** Commits that were checked out here, oldest first, from the file itself: git shows no reflog of a HEAD without commit. */
async function reflogOf(gitDirectory: string): Promise<string[]> {
  if (gitDirectory === '') return [];
  const text = await readFile(join(gitDirectory, 'logs', 'HEAD'), 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => /^[0-9a-f]+ ([0-9a-f]{40,64}) /.exec(line)?.[1] ?? []);
}

/** A branch, tag or remote branch has the commit; then it is that branch's matter. */
export async function isOnABranch(room: GitRoom, { at }: Source, commit: string): Promise<boolean> {
  const args = ['rev-list', '--max-count=1', commit, '--not', '--branches', '--tags', '--remotes'];
  return (await room.run(args, { at })).text === '';
}

/** The branch where HEAD has left it (a rebase, a detached HEAD): it goes together with the worktree. */
export async function branchTip(
  room: GitRoom,
  { at }: Source,
  { branch, head }: { branch: string | null; head: string },
): Promise<readonly string[]> {
  const tip = branch === null ? null : await resolveCommit(room, at, `refs/heads/${branch}`);
  return tip === null || (await isAncestor(room, at, tip, head)) ? [] : [tip];
}

/** The stash is shared by all worktrees of a clone; an entry names the branch it was made on. */
export async function stashesOf(
  room: GitRoom,
  { at, gitDirectory }: Source,
  branch: string | null,
): Promise<readonly string[]> {
  if (gitDirectory === '') return [];
  const names = [await currentBranch(room, at), branch].filter((name) => name !== null).map(escape);
  const listed = await room.run(['stash', 'list', '-z', '--format=%H %P %gs'], { at, answers: [0, 128] });
  const made = new RegExp(`(WIP on|On) (${names.join('|')}): `);
  return splitZ(listed.raw)
    .filter((line) => names.length > 0 && made.test(line))
    .map((line) => line.slice(0, line.indexOf(' ')));
}

function escape(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** Names of a merge, rebase or move under way, of its own. */
const PSEUDO_REFS = [
  'ORIG_HEAD',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'REBASE_HEAD',
  'refs/worktree/agentorchestr-moving',
];
const NOTES = ['MERGE_HEAD', 'rebase-merge/orig-head', 'rebase-apply/orig-head', 'rebase-merge/autostash'];

/** Names and ids; they are looked up together. */
async function underWay({ gitDirectory }: Source): Promise<readonly string[]> {
  const noted = await Promise.all(
    NOTES.map((name) => readFile(join(gitDirectory, name), 'utf8').catch(() => '')),
  );
  const written = noted.flatMap((text) => text.split('\n').filter((line) => /^[0-9a-f]{40,64}$/.test(line)));
  return [...PSEUDO_REFS, ...written];
}

/**
 * Tips of commits that were checked out here once, or that a merge or rebase under way names, and that no ref holds:
 * made detached, amended or reset away.
 */
export async function looseCommits(
  room: GitRoom,
  source: Source,
  options: { base: string; head: string; known: readonly string[] },
): Promise<readonly string[]> {
  const { at, gitDirectory } = source;
  if (gitDirectory === '') return [];
  const visited = [...new Set((await reflogOf(gitDirectory)).reverse())].slice(0, VISITED_LIMIT);
  const candidates = [...visited, ...(await underWay(source))];
  const seen = (await existing(room, at, candidates)).join('\n');
  if (seen === '') return [];
  const known = [options.head, options.base, ...options.known].map((commit) => `^${commit}`);
  const args = ['rev-list', '--topo-order', '--parents', '--stdin'];
  const input = `${seen}\n${known.join('\n')}\n`;
  const listed = await room.run([...args, '--not', '--branches', '--tags', '--remotes'], { at, input });
  const lines = listed.text.split('\n').filter((line) => line !== '');
  const parents = new Set(lines.flatMap((line) => line.split(' ').slice(1)));
  const tips = lines.map((line) => line.split(' ')[0] ?? '').filter((commit) => !parents.has(commit));
  if (tips.length > LOOSE_LIMIT)
    room.logger.warn({ gitDirectory, tips: tips.length }, 'only the newest loose commits are kept');
  return tips.slice(0, LOOSE_LIMIT);
}

/** Of names and ids, those of commits here: a reflog may name what was collected long ago. */
async function existing(room: GitRoom, at: Place, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const input = `${ids.join('\n')}\n`;
  const checked = await room.run(['cat-file', '--batch-check'], { at, input });
  return checked.text.split('\n').flatMap((line) => /^([0-9a-f]+) commit /.exec(line)?.[1] ?? []);
}
