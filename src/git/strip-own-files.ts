import { createHash } from 'node:crypto';
import type { Environment, Place } from './git-environment.js';
import type { GitRoom } from './git-room.js';
import { OWN_IGNORE } from './own-files-out.js';
import { ONLY_OWN } from './own-files.js';
import { splitZ } from './run-git.js';
import { indexOfTree, type Scratch } from './scratch.js';

export interface StrippedTree {
  readonly tree: string;
  readonly stripped: readonly string[];
}

/** Puts every file of ours back to what `reference` has (usually: nothing), however an agent forced it into a commit. */
export async function stripOwnFiles(
  room: GitRoom,
  at: Place,
  options: { scratch: Scratch; reference: string; tree: string; env: Environment },
): Promise<StrippedTree> {
  const { scratch, reference, tree, env } = options;
  const found = await ownDifferences(room, at, { from: reference, to: tree, env });
  if (found.length === 0) return { tree, stripped: [] };
  const index = await indexOfTree(room, at, { scratch, tree, env });
  const input = found.map(({ mode, object, path }) => `${mode} ${object}\t${path}\0`).join('');
  await room.run(['update-index', '-z', '--index-info'], {
    at,
    env: { ...env, GIT_INDEX_FILE: index },
    input,
  });
  const clean = await room.run(['write-tree'], { at, env: { ...env, GIT_INDEX_FILE: index } });
  return { tree: clean.text, stripped: found.map(({ path }) => path).sort() };
}

/** Whether any commit of a range has a file of ours that its parent has not. */
export async function rangeHasOwnFiles(room: GitRoom, at: Place, range: readonly string[]): Promise<boolean> {
  const args = [
    'log',
    '--format=',
    '-m',
    '--raw',
    '-z',
    '--no-abbrev',
    '--no-renames',
    '--diff-filter=AM',
    ...range,
    '--',
    ...OWN_PATHSPECS,
  ];
  const fields = splitZ((await room.run(args, { at })).raw).map((field) => field.trim());
  return parseRaw(fields).some(isOurs);
}

/** `.agentorchestr/.gitignore` counts only with our text: a project may have its own. */
const OWN_PATHSPECS = [...ONLY_OWN, ':(top,glob)**/.agentorchestr/.gitignore'];

interface RawEntry {
  /** Side to go back to; zeros when it has no such file. */
  readonly mode: string;
  readonly object: string;
  readonly newObject: string;
  readonly path: string;
}

async function ownDifferences(
  room: GitRoom,
  at: Place,
  sides: { from: string; to: string; env: Environment },
): Promise<readonly RawEntry[]> {
  const args = [
    'diff-tree',
    '-r',
    '--raw',
    '-z',
    '--no-abbrev',
    '--no-renames',
    sides.from,
    sides.to,
    '--',
    ...OWN_PATHSPECS,
  ];
  const { raw } = await room.run(args, { at, env: sides.env });
  return parseRaw(splitZ(raw)).filter(isOurs);
}

function parseRaw(fields: readonly string[]): RawEntry[] {
  const entries: RawEntry[] = [];
  for (let index = 0; index + 1 < fields.length; index += 1) {
    const match = /^:(\d+) \d+ ([0-9a-f]+) ([0-9a-f]+) [A-Z]/.exec(fields[index] ?? '');
    if (match === null) continue;
    entries.push({
      mode: match[1] ?? '',
      object: match[2] ?? '',
      newObject: match[3] ?? '',
      path: fields[index + 1] ?? '',
    });
  }
  return entries;
}

function isOurs(entry: RawEntry): boolean {
  return (
    !entry.path.endsWith('/.gitignore') || entry.newObject === blobId(OWN_IGNORE, entry.newObject.length)
  );
}

function blobId(content: string, length: number): string {
  const hash = createHash(length === 64 ? 'sha256' : 'sha1');
  return hash
    .update(`blob ${Buffer.byteLength(content)}\0`)
    .update(content)
    .digest('hex');
}
