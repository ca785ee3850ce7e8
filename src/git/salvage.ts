import { OrchestratorError } from '../core/errors/error.js';
import type { SalvageOptions, SalvageResult } from './contract.js';
import type { Environment, Place } from './git-environment.js';
import type { GitRoom } from './git-room.js';
import { SCRATCH_IDENTITY } from './identity.js';
import { keepPrecious } from './precious-files.js';
import { isAncestor, resolveCommit, treeOf } from './refs.js';
import {
  branchTip,
  headOf,
  isOnABranch,
  looseCommits,
  sourceOf,
  stashesOf,
  type Source,
} from './salvage-sources.js';
import { salvageSubmodules } from './salvage-submodules.js';
import { commitTree, indexCopy, snapshotTree, withScratch, type Scratch } from './scratch.js';

const SALVAGE = /^refs\/agentorchestr\/salvage\/[^-].*/;
export const STAGED_SUBJECT = 'What was staged';
export const KEPT_SUBJECT = 'Kept from ';

/**
 * See Git.salvage. One commit under the ref: its tree is the working tree (uncommitted and untracked included), its
 * first parent is HEAD; further parents are what is only here: the staged state where it differs, stashes made on this
 * branch, commits that only this worktree knew, and what an earlier salvage kept.
 */
export async function salvage(room: GitRoom, options: SalvageOptions): Promise<SalvageResult | null> {
  const { ref, repository } = options;
  if (!SALVAGE.test(ref))
    throw new OrchestratorError('INVALID_INPUT', { field: 'ref', problem: `"${ref}" is not a salvage ref` });
  const source = await sourceOf(room, options);
  const head = await headOf(room, source, options);
  const nothing = { kept: [], notKept: [] };
  const precious = source.hasFiles ? await keepPrecious(room, options) : nothing;
  const kept = await withScratch(room, repository, (scratch) =>
    collect(room, options, { source, scratch, head }),
  );
  const submodules = source.hasFiles
    ? await salvageSubmodules(room, options)
    : { kept: [], found: false, notKept: [] };
  const notKept = [...precious.notKept, ...kept.notKept, ...submodules.notKept];
  const holdsWork = kept.dirty || kept.extra.length > 0 || (await isWork(room, options, source, head));
  if (!holdsWork && precious.kept.length === 0 && notKept.length === 0 && !submodules.found) return null;
  const result = { ref, head, ignoredFiles: precious.kept, submodules: submodules.kept, notKept };
  if (options.dryRun === true) return { ...result, commit: head };
  return { ...result, commit: await keepUnder(room, options, { ...kept, head }) };
}

/** Whether HEAD itself has to be kept. */
async function isWork(
  room: GitRoom,
  options: SalvageOptions,
  source: Source,
  head: string,
): Promise<boolean> {
  if (options.unheldOnly === true) return !(await isOnABranch(room, source, head));
  return !(await isAncestor(room, source.at, head, options.base));
}

async function keepUnder(
  room: GitRoom,
  options: SalvageOptions,
  kept: Collected & { readonly head: string },
): Promise<string> {
  const at = { repository: options.repository };
  const earlier = await resolveCommit(room, at, options.ref);
  if (earlier !== null && (await holdsAll(room, at, earlier, kept))) return earlier;
  const isNew = earlier !== null && !(await isAncestor(room, at, earlier, kept.head));
  const extra = [...kept.extra, ...(isNew && !kept.extra.includes(earlier) ? [earlier] : [])];
  const commit =
    kept.dirty || extra.length > 0
      ? await commitTree(room, at, {
          tree: kept.tree,
          parents: [kept.head, ...extra],
          message: salvageMessage(options.worktree, extra.length),
          env: SCRATCH_IDENTITY,
        })
      : kept.head;
  await room.run(['update-ref', options.ref, commit], { at });
  return commit;
}

/** Kept before: whoever cleared up here was killed after that, and the very same is asked for again. */
async function holdsAll(
  room: GitRoom,
  at: Place,
  earlier: string,
  kept: Collected & { readonly head: string },
): Promise<boolean> {
  for (const commit of [kept.head, ...kept.extra])
    if (!(await isAncestor(room, at, commit, earlier))) return false;
  if (!kept.dirty) return true;
  const shown = await room.run(['show', '--no-patch', '--format=%T', earlier, `${earlier}^@`], { at });
  return shown.text.split('\n').includes(kept.tree);
}

function salvageMessage(worktree: string, extra: number): string {
  const more =
    extra === 0
      ? ''
      : `\nFurther parents: the staged state, stashes and commits that only this worktree knew (${extra}).\n`;
  return `${KEPT_SUBJECT}${worktree}\n\nThe tree holds its files, uncommitted and untracked ones included. First parent: its HEAD.\n${more}`;
}

interface Collected {
  readonly tree: string;
  readonly dirty: boolean;
  readonly extra: readonly string[];
  readonly notKept: readonly string[];
}

interface Ground {
  readonly source: Source;
  readonly scratch: Scratch;
  readonly head: string;
}

async function collect(room: GitRoom, options: SalvageOptions, ground: Ground): Promise<Collected> {
  const { source, scratch, head } = ground;
  const objects = options.dryRun === true ? scratch.objects : null;
  const headTree = await treeOf(room, source.at, head);
  const indexTree = await treeOfIndex(room, ground, objects);
  const files = source.hasFiles
    ? await snapshotTree(room, options.worktree, { scratch, objects, tolerant: true })
    : { tree: indexTree ?? headTree, embedded: [], incomplete: false };
  const isStaged = indexTree !== null && indexTree !== headTree;
  const staged = isStaged ? [await stagedCommit(room, ground, indexTree, objects)] : [];
  const stashes = await stashesOf(room, source, options.branch ?? null);
  const branch = await branchTip(room, source, { branch: options.branch ?? null, head });
  const loose = await looseCommits(room, source, {
    base: options.base,
    head,
    known: [...stashes, ...branch],
  });
  return {
    tree: files.tree,
    dirty: files.tree !== headTree,
    extra: [...new Set([...staged, ...stashes, ...branch, ...loose])],
    notKept: [...files.embedded, ...(files.incomplete ? ['files that could not be read'] : [])],
  };
}

/** What is staged; null for an index with open conflicts, which has no tree. */
async function treeOfIndex(
  room: GitRoom,
  { source, scratch }: Ground,
  objects: Environment | null,
): Promise<string | null> {
  const index = await indexCopy(source.index, scratch);
  if (index === null) return null;
  const env = { ...objects, GIT_INDEX_FILE: index };
  const written = await room.run(['write-tree'], { at: source.at, env, answers: [0, 128] });
  return written.code === 0 ? written.text : null;
}

/** The same staged state gives the same commit, whenever it is asked for. */
async function stagedCommit(
  room: GitRoom,
  { source, head }: Ground,
  tree: string,
  objects: Environment | null,
): Promise<string> {
  const { text: date } = await room.run(['show', '--no-patch', '--format=@%ct +0000', head], {
    at: source.at,
  });
  const env = { ...objects, ...SCRATCH_IDENTITY, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
  return commitTree(room, source.at, { tree, parents: [head], message: `${STAGED_SUBJECT}\n`, env });
}
