import { realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OrchestratorError } from '../core/errors/error.js';
import { notSafe, USER_CHECKOUT } from './checkout-not-safe.js';
import type { ApplyOptions } from './contract.js';
import { differingPaths } from './diff-worktree.js';
import type { Place } from './git-environment.js';
import type { GitRoom } from './git-room.js';
import { folderTree } from './import-folder.js';
import { shellQuote } from '../platform/shell-quote.js';
import { currentBranch, resolveCommit } from './refs.js';
import { snapshotTree, withScratch, type Scratch } from './scratch.js';

/**
 * Brings the difference between the session's base and its result into the files themselves: for a folder that is no
 * repository, and for a checkout whose uncommitted changes were part of the base. No commit, the index stays as it is.
 * Refused when the tree is not what it was (for a plain folder: among the files that the result touches).
 */
export async function applyDifference(room: GitRoom, options: ApplyOptions): Promise<{ how: string }> {
  const { base, facts } = options;
  const repository = { repository: base.repository };
  return withScratch(room, base.repository, async (scratch) => {
    const patch = join(scratch.directory, 'result.patch');
    const touched = await differingPaths(room, repository, { from: base.commit, to: options.resultCommit });
    if (touched.length === 0) return { how: 'there was nothing to apply' };
    const now = base.imported
      ? await importedTree(room, options)
      : await checkoutTree(room, options, scratch);
    const moved = await differingPaths(room, repository, { from: base.commit, to: now });
    // Whether it was brought here before: then what it touches is as it left it.
    const missing = await differingPaths(room, repository, { from: options.resultCommit, to: now });
    if (!touched.some((path) => missing.includes(path))) return { how: alreadyThere(options) };
    const inTheWay = base.imported ? moved.filter((path) => touched.includes(path)) : moved;
    if (inTheWay.length > 0)
      throw notSafe(
        options,
        `these files changed since the session began: ${inTheWay.join(', ')}`,
        patchCommand(options),
      );
    const diff = [
      'diff',
      '--binary',
      '--full-index',
      '--no-renames',
      '--no-ext-diff',
      '--no-textconv',
      `--output=${patch}`,
    ];
    await room.run([...diff, base.commit, options.resultCommit], { at: repository });
    const top = base.imported ? facts.project : (facts.checkout ?? '');
    const at: Place = base.imported ? { gitDirectory: base.repository, workTree: top } : { worktree: top };
    await apply(room, options, { at, patch });
    return {
      how: `${touched.length} changed ${touched.length === 1 ? 'file was' : 'files were'} brought into ${top}, not committed`,
    };
  });
}

function alreadyThere({ base }: ApplyOptions): string {
  return `your ${base.imported ? 'folder' : 'checkout'} has it already`;
}

/** All or nothing: git checks every hunk before it writes the first file. Ignored files in the way are not overwritten. */
async function apply(
  room: GitRoom,
  options: ApplyOptions,
  call: { at: Place; patch: string },
): Promise<void> {
  try {
    await room.run(['apply', '--whitespace=nowarn', '--', call.patch], { at: call.at, env: USER_CHECKOUT });
  } catch (error) {
    const problem = error instanceof OrchestratorError ? String(error.params['problem']) : String(error);
    throw notSafe(options, problem, patchCommand(options));
  }
}

/** What a person types to do the same with a merge of conflicting places. */
function patchCommand(options: ApplyOptions): string {
  const { base, facts } = options;
  const diff = `git --git-dir=${shellQuote(base.repository)} diff --binary ${base.commit} ${options.resultCommit}`;
  return base.imported
    ? `cd ${shellQuote(facts.project)} && ${diff} | git apply --reject`
    : `cd ${shellQuote(facts.checkout ?? facts.project)} && ${diff} | git apply --3way`;
}

async function importedTree(room: GitRoom, options: ApplyOptions): Promise<string> {
  const { base, facts } = options;
  const project = await realpath(facts.project).catch(() => facts.project);
  const tree = await folderTree(room, {
    project,
    gitDirectory: base.repository,
    importRoot: dirname(base.repository),
  });
  return tree.tree;
}

/** HEAD and branch must be where the snapshot was taken; then the tree as it is now. */
async function checkoutTree(room: GitRoom, options: ApplyOptions, scratch: Scratch): Promise<string> {
  const worktree = options.facts.checkout ?? '';
  const at = { worktree };
  const [branch, head, before] = [
    await currentBranch(room, at),
    await resolveCommit(room, at, 'HEAD'),
    options.facts,
  ];
  if (branch !== before.branch)
    throw notSafe(options, `it is on ${branch ?? 'no branch'} now`, patchCommand(options));
  if (head !== before.head)
    throw notSafe(
      options,
      `its HEAD moved to ${head ?? 'nothing'} since the session began`,
      patchCommand(options),
    );
  const now = await snapshotTree(room, worktree, { scratch, objects: null });
  return now.tree;
}
