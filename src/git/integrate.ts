import { OrchestratorError } from '../core/errors/error.js';
import type { IntegrateOptions, IntegrateResult } from './contract.js';
import type { GitRoom } from './git-room.js';
import { identityEnvironment } from './identity.js';
import { applyCommit, mergeTrees } from './merge-trees.js';
import { moveWorktree, recoverWorktree } from './move-worktree.js';
import { isAncestor, requireCommit, treeOf } from './refs.js';
import { commitTree, withScratch, type Scratch } from './scratch.js';
import { changedFiles } from './status.js';
import { rangeHasOwnFiles, stripOwnFiles } from './strip-own-files.js';

/**
 * See Git.integrate. The result is made as objects first (no tree is touched, so no conflict can be left in one); only
 * a finished commit is then moved to, in a way that a killed process can be finished by the next one.
 */
export function integrate(room: GitRoom, options: IntegrateOptions): Promise<IntegrateResult> {
  return room.inTurn(options.worktree, async () => {
    const at = { worktree: options.worktree };
    await recoverWorktree(room, options.worktree);
    const files = await changedFiles(room, at);
    if (files.length > 0) throw new OrchestratorError('INTEGRATION_DIRTY', { files });
    const head = await requireCommit(room, at, 'HEAD');
    const commit = await requireCommit(room, at, options.commit);
    if (await isAncestor(room, at, commit, head)) return alreadyIn(head, options.strategy);
    const made = await withScratch(room, options.repository, (scratch) =>
      make(room, { ...options, commit }, { scratch, head }),
    );
    if ('conflicts' in made) return { merged: false, conflicts: made.conflicts };
    if (made.commit === head)
      return { ...alreadyIn(head, options.strategy), strippedFiles: made.strippedFiles };
    await moveWorktree(room, options.worktree, { from: head, to: made.commit });
    return {
      merged: true,
      commit: made.commit,
      alreadyIn: false,
      strategy: made.strategy,
      strippedFiles: made.strippedFiles,
    };
  });
}

type Strategy = IntegrateOptions['strategy'];
type Made =
  { commit: string; strategy: Strategy; strippedFiles: readonly string[] } | { conflicts: readonly string[] };

function alreadyIn(commit: string, strategy: Strategy): Extract<IntegrateResult, { merged: true }> {
  return { merged: true, commit, alreadyIn: true, strategy, strippedFiles: [] };
}

interface Ground {
  readonly scratch: Scratch;
  readonly head: string;
}

async function make(room: GitRoom, options: IntegrateOptions, ground: Ground): Promise<Made> {
  if (options.strategy === 'cherry-pick') return pickAll(room, options, ground);
  const at = { worktree: options.worktree };
  const merged = await mergeTrees(room, {
    ...options,
    ...ground,
    ours: ground.head,
    theirs: options.commit,
    attributesOf: at,
    objects: null,
  });
  if (!merged.clean) return { conflicts: merged.conflicts };
  const env = await identityEnvironment(room, at);
  const { tree, stripped } = await stripOwnFiles(room, at, {
    ...ground,
    reference: ground.head,
    tree: merged.tree,
    env: {},
  });
  // A history that holds our files (they may hold a token) must not become part of the result: only its tree does.
  const tainted = await rangeHasOwnFiles(room, at, [options.commit, `^${ground.head}`]);
  const strategy = tainted ? 'squash' : options.strategy;
  const unchanged = tree === (await treeOf(room, at, ground.head));
  if (strategy === 'squash' && unchanged) return { commit: ground.head, strategy, strippedFiles: stripped };
  const parents = strategy === 'squash' ? [ground.head] : [ground.head, options.commit];
  const commit = await commitTree(room, at, { tree, parents, message: withNewline(options.message), env });
  return { commit, strategy, strippedFiles: stripped };
}

/** Each commit of the worker's own line (a merge counts as what it changed there), with its author and message. */
async function pickAll(room: GitRoom, options: IntegrateOptions, ground: Ground): Promise<Made> {
  const at = { worktree: options.worktree };
  const range = await room.run(
    ['rev-list', '--first-parent', '--reverse', options.commit, `^${options.base}`],
    { at },
  );
  const strippedFiles: string[] = [];
  let tip = ground.head;
  for (const picked of range.text.split('\n').filter((line) => line !== '')) {
    const parent = await requireCommit(room, at, `${picked}^1`);
    const applied = await applyCommit(room, {
      ...options,
      ...ground,
      ours: tip,
      theirs: picked,
      parent,
      attributesOf: at,
      objects: null,
    });
    if (!applied.clean) return { conflicts: applied.conflicts };
    const { tree, stripped } = await stripOwnFiles(room, at, {
      ...ground,
      reference: tip,
      tree: applied.tree,
      env: {},
    });
    strippedFiles.push(...stripped);
    if (tree === (await treeOf(room, at, tip))) continue;
    tip = await copyCommit(room, at, { picked, tree, parent: tip });
  }
  return { commit: tip, strategy: 'cherry-pick', strippedFiles: [...new Set(strippedFiles)] };
}

async function copyCommit(
  room: GitRoom,
  at: { worktree: string },
  options: { picked: string; tree: string; parent: string },
): Promise<string> {
  const format = '--format=%an%x00%ae%x00%ad%x00%B';
  const shown = await room.run(['show', '--no-patch', '--date=raw', format, options.picked], { at });
  const [name = '', email = '', date = '', message = ''] = shown.raw.split('\0');
  const env = {
    ...(await identityEnvironment(room, at)),
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_AUTHOR_DATE: date,
  };
  return commitTree(room, at, {
    tree: options.tree,
    parents: [options.parent],
    message: withNewline(message.trimEnd()),
    env,
  });
}

function withNewline(message: string): string {
  return message.endsWith('\n') ? message : `${message}\n`;
}
