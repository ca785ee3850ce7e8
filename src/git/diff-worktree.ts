import { resolve } from 'node:path';
import type { DiffResult } from './contract.js';
import type { Environment, Place } from './git-environment.js';
import type { GitRoom } from './git-room.js';
import { ALL_BUT_OWN } from './own-files.js';
import { mergeBase, requireCommit } from './refs.js';
import { splitZ } from './run-git.js';
import { snapshotTree, withScratch } from './scratch.js';

const PLAIN_DIFF = ['--no-ext-diff', '--no-textconv', '--no-color', '--find-renames'];

/** See Git.diff. */
export async function diffWorktree(
  room: GitRoom,
  options: { worktree: string; base: string; statOnly: boolean; maxBytes: number },
): Promise<DiffResult> {
  const { worktree } = options;
  const at = { worktree };
  const base = await requireCommit(room, at, options.base);
  const from = (await mergeBase(room, at, base, 'HEAD')) ?? base;
  return withScratch(room, await commonDirectory(room, worktree), async (scratch) => {
    const { tree } = await snapshotTree(room, worktree, {
      scratch,
      objects: scratch.objects,
      tolerant: true,
    });
    const sides = [from, tree, '--', ...ALL_BUT_OWN];
    const numbers = await room.run(['diff', '--numstat', '-z', ...PLAIN_DIFF, ...sides], {
      at,
      env: scratch.objects,
    });
    const files = parseNumstat(splitZ(numbers.raw));
    if (options.statOnly) return { files, text: '', truncated: false };
    const text = await room.run(['diff', ...PLAIN_DIFF, ...sides], {
      at,
      env: scratch.objects,
      maxBytes: options.maxBytes,
      cut: true,
    });
    return { files, text: text.raw, truncated: text.truncated };
  });
}

/** `added<TAB>removed<TAB>path`; a rename has an empty path, then the old and the new one. Binary files count as `-`. */
function parseNumstat(fields: readonly string[]): DiffResult['files'] {
  const files: { path: string; added: number | null; removed: number | null }[] = [];
  for (let index = 0; index < fields.length; index += 1) {
    const [added = '', removed = '', ...rest] = (fields[index] ?? '').split('\t');
    let path = rest.join('\t');
    if (path === '') {
      path = fields[index + 2] ?? '';
      index += 2;
    }
    files.push({ path, added: count(added), removed: count(removed) });
  }
  return files;
}

function count(text: string): number | null {
  return text === '-' ? null : Number(text);
}

/** The git directory that all worktrees of the clone share. */
export async function commonDirectory(room: GitRoom, worktree: string): Promise<string> {
  return resolve(worktree, (await room.run(['rev-parse', '--git-common-dir'], { at: { worktree } })).text);
}

export interface ChangedPath {
  /** `A`, `M`, `D`, `T` as git says it; a rename is a deletion and an addition. */
  readonly kind: string;
  readonly path: string;
}

/** What differs between two trees, files of ours too. */
export async function changedPaths(
  room: GitRoom,
  at: Place,
  { from, to }: { from: string; to: string },
): Promise<readonly ChangedPath[]> {
  const args = ['diff-tree', '-r', '-z', '--name-status', '--no-renames', from, to];
  const fields = splitZ((await room.run(args, { at })).raw);
  return fields.flatMap((kind, index) => (index % 2 === 0 ? { kind, path: fields[index + 1] ?? '' } : []));
}

/** Paths that differ between two trees, files of ours left out; a rename counts as both of its paths. */
export async function differingPaths(
  room: GitRoom,
  at: Place,
  options: { from: string; to: string; env?: Environment },
): Promise<string[]> {
  const args = [
    'diff-tree',
    '-r',
    '-z',
    '--name-only',
    '--no-renames',
    options.from,
    options.to,
    '--',
    ...ALL_BUT_OWN,
  ];
  return splitZ((await room.run(args, { at, env: options.env ?? {} })).raw);
}
