import { OrchestratorError } from '../core/errors/error.js';
import type { SalvageOptions, SalvageResult } from './contract.js';
import { commonDirectory } from './diff-worktree.js';
import type { GitRoom } from './git-room.js';
import { SCRATCH_IDENTITY } from './identity.js';
import { keepPrecious } from './precious-files.js';
import { isAncestor, requireCommit, resolveCommit, treeOf } from './refs.js';
import { splitZ } from './run-git.js';
import { commitTree, copyOfIndex, snapshotTree, withScratch, type Scratch } from './scratch.js';
import { populatedSubmodules } from './submodules.js';

const SALVAGE = /^refs\/agentorchestr\/salvage\/[^-].*/;
const LOOSE_LIMIT = 50;

/**
 * See Git.salvage. One commit under the ref: its tree is the working tree (uncommitted and untracked included), its
 * first parent is HEAD; further parents are what is only here: the staged state where it differs, stashes made on this
 * branch, and commits that only this worktree's reflog knows.
 */
export async function salvage(room: GitRoom, options: SalvageOptions): Promise<SalvageResult | null> {
  const { worktree, ref } = options;
  const at = { worktree };
  if (!SALVAGE.test(ref))
    throw new OrchestratorError('INVALID_INPUT', { field: 'ref', problem: `"${ref}" is not a salvage ref` });
  const head = await requireCommit(room, at, 'HEAD');
  const precious = await keepPrecious(room, options);
  const kept = await withScratch(room, await commonDirectory(room, worktree), (scratch) =>
    collect(room, options, { scratch, head }),
  );
  const submodules = await salvageSubmodules(room, options);
  const notKept = [...precious.notKept, ...kept.notKept, ...submodules.notKept];
  const extra = [...kept.extra, ...(await earlierSalvage(room, options, head))];
  const holdsWork = kept.dirty || extra.length > 0 || !(await isAncestor(room, at, head, options.base));
  if (!holdsWork && precious.kept.length === 0 && notKept.length === 0 && !submodules.found) return null;
  const message = salvageMessage(worktree, extra.length);
  const commit =
    kept.dirty || extra.length > 0
      ? await commitTree(room, at, {
          tree: kept.tree,
          parents: [head, ...extra],
          message,
          env: SCRATCH_IDENTITY,
        })
      : head;
  await room.run(['update-ref', ref, commit], { at: { repository: options.repository } });
  return { ref, commit, ignoredFiles: precious.kept, notKept };
}

function salvageMessage(worktree: string, extra: number): string {
  const more =
    extra === 0
      ? ''
      : `\nFurther parents: the staged state, stashes and commits that only this worktree knew (${extra}).\n`;
  return `Kept from ${worktree}\n\nThe tree holds its files, uncommitted and untracked ones included. First parent: its HEAD.\n${more}`;
}

interface Collected {
  readonly tree: string;
  readonly dirty: boolean;
  readonly extra: readonly string[];
  readonly notKept: readonly string[];
}

async function collect(
  room: GitRoom,
  options: SalvageOptions,
  ground: { scratch: Scratch; head: string },
): Promise<Collected> {
  const { worktree } = options;
  const { scratch, head } = ground;
  const at = { worktree };
  const headTree = await treeOf(room, at, head);
  const snapshot = await snapshotTree(room, worktree, { scratch, objects: null, tolerant: true });
  const staged = await stagedCommit(room, worktree, { scratch, head, headTree, workTree: snapshot.tree });
  const stashes = await stashesOf(room, worktree);
  const loose = await looseCommits(room, options, head, stashes);
  const notKept = [...snapshot.embedded, ...(snapshot.incomplete ? ['files that could not be read'] : [])];
  return {
    tree: snapshot.tree,
    dirty: snapshot.tree !== headTree,
    extra: [...new Set([...(staged === null ? [] : [staged]), ...stashes, ...loose])],
    notKept,
  };
}

/** What is staged, where the working tree has moved on since; an index with open conflicts has no tree. */
async function stagedCommit(
  room: GitRoom,
  worktree: string,
  trees: { scratch: Scratch; head: string; headTree: string; workTree: string },
): Promise<string | null> {
  const at = { worktree };
  const env = { GIT_INDEX_FILE: await copyOfIndex(room, worktree, trees.scratch) };
  const written = await room.run(['write-tree'], { at, env, answers: [0, 128] });
  if (written.code !== 0 || written.text === trees.headTree || written.text === trees.workTree) return null;
  return commitTree(room, at, {
    tree: written.text,
    parents: [trees.head],
    message: 'What was staged\n',
    env: SCRATCH_IDENTITY,
  });
}

/** The stash is shared by all worktrees of a clone; an entry names the branch it was made on. */
async function stashesOf(room: GitRoom, worktree: string): Promise<readonly string[]> {
  const at = { worktree };
  const branch = (await room.run(['symbolic-ref', '--quiet', '--short', 'HEAD'], { at, answers: [0, 1] }))
    .text;
  const listed = await room.run(['stash', 'list', '-z', '--format=%H %P %gs'], { at, answers: [0, 128] });
  const own: string[] = [];
  for (const line of splitZ(listed.raw)) {
    const commit = line.slice(0, line.indexOf(' '));
    if (branch !== '' && new RegExp(`(WIP on|On) ${escape(branch)}: `).test(line)) own.push(commit);
  }
  return own;
}

function escape(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** Tips of commits that were checked out here once and that no ref holds: made detached, amended or reset away. */
async function looseCommits(
  room: GitRoom,
  options: SalvageOptions,
  head: string,
  stashes: readonly string[],
): Promise<readonly string[]> {
  const at = { worktree: options.worktree };
  const visited = await room.run(['log', '--walk-reflogs', '--format=%H', 'HEAD', '--'], {
    at,
    answers: [0, 128],
  });
  const seen = [...new Set(visited.text.split('\n').filter((line) => line !== ''))].slice(0, 1_000);
  const orphan = await resolveCommit(room, at, 'ORIG_HEAD');
  const known = [head, options.base, ...stashes].map((commit) => `^${commit}`);
  const input = [...seen, ...(orphan === null ? [] : [orphan]), ...known].join('\n');
  const args = [
    'rev-list',
    '--topo-order',
    '--parents',
    '--stdin',
    '--not',
    '--branches',
    '--tags',
    '--remotes',
  ];
  const lines = (await room.run(args, { at, input: `${input}\n` })).text
    .split('\n')
    .filter((line) => line !== '');
  const parents = new Set(lines.flatMap((line) => line.split(' ').slice(1)));
  const tips = lines.map((line) => line.split(' ')[0] ?? '').filter((commit) => !parents.has(commit));
  if (tips.length > LOOSE_LIMIT)
    room.logger.warn(
      { worktree: options.worktree, tips: tips.length },
      'only the newest loose commits are kept',
    );
  return tips.slice(0, LOOSE_LIMIT);
}

/** What an earlier salvage of the same worker kept, unless HEAD holds it anyway. */
async function earlierSalvage(
  room: GitRoom,
  options: SalvageOptions,
  head: string,
): Promise<readonly string[]> {
  const at = { repository: options.repository };
  const earlier = await resolveCommit(room, at, options.ref);
  return earlier === null || (await isAncestor(room, at, earlier, head)) ? [] : [earlier];
}

/** A submodule of a worktree is a repository of its own that goes with it: its work is fetched into the user's one, under our ref. */
async function salvageSubmodules(
  room: GitRoom,
  options: SalvageOptions,
): Promise<{ found: boolean; notKept: readonly string[] }> {
  const notKept: string[] = [];
  let found = false;
  for (const { folder, source, path } of await populatedSubmodules(room, options)) {
    const at = { worktree: folder };
    try {
      const head = await requireCommit(room, at, 'HEAD');
      const snapshot = await withScratch(room, source, (scratch) =>
        snapshotTree(room, folder, { scratch, objects: null, tolerant: true }),
      );
      const dirty = snapshot.tree !== (await treeOf(room, at, head));
      if (!dirty && (await resolveCommit(room, { repository: source }, head)) !== null) continue;
      const tree = {
        tree: snapshot.tree,
        parents: [head],
        message: `Kept from ${folder}\n`,
        env: SCRATCH_IDENTITY,
      };
      const commit = dirty ? await commitTree(room, at, tree) : head;
      await room.run(['update-ref', options.ref, commit], { at });
      await room.run(['fetch', '--quiet', '--no-tags', '--', folder, `+${options.ref}:${options.ref}`], {
        at: { repository: source },
      });
      found = true;
    } catch (error) {
      room.logger.warn({ err: error, submodule: folder }, 'the work in a submodule could not be kept');
      notKept.push(path);
    }
  }
  return { found, notKept };
}
