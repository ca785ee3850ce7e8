import type { SalvagedWork } from './contract.js';
import type { GitRoom } from './git-room.js';
import { resolveCommit, treeOf } from './refs.js';
import { splitZ } from './run-git.js';
import { keptParts } from './kept-parts.js';

/** See Git.listSalvaged. */
export async function listSalvaged(
  room: GitRoom,
  options: { repository: string; sessionId: string; base: string; ref?: string },
): Promise<readonly SalvagedWork[]> {
  const at = { repository: options.repository };
  const folder = `refs/agentorchestr/salvage/${options.sessionId}/`;
  const listed = await room.run(['for-each-ref', '--format=%(objectname) %(refname)', folder], { at });
  const works: SalvagedWork[] = [];
  for (const line of listed.text.split('\n').filter((text) => text !== '')) {
    const [commit = '', ref = ''] = line.split(' ');
    if (options.ref !== undefined && options.ref !== ref) continue;
    works.push(await describe(room, options, { ref, commit }));
  }
  return works;
}

async function describe(
  room: GitRoom,
  options: { repository: string; base: string },
  { ref, commit }: { ref: string; commit: string },
): Promise<SalvagedWork> {
  const at = { repository: options.repository };
  const { head, tree } = await keptParts(room, at, commit);
  // Work of a submodule shares nothing with the base.
  const base = ref.includes('.sub/') ? null : await resolveCommit(room, at, options.base);
  const commits = await room.run(['rev-list', '--count', head, ...(base === null ? [] : [`^${base}`])], {
    at,
  });
  const { files, bytes } = await differing(room, options.repository, { base, tree });
  const uncommitted = tree !== (await treeOf(room, at, head));
  return { ref, commit, uncommitted, commits: Number(commits.text), files, bytes };
}

/** How many files of a tree differ from the base, and how large they are. */
async function differing(
  room: GitRoom,
  repository: string,
  { base, tree }: { base: string | null; tree: string },
): Promise<{ files: number; bytes: number }> {
  const at = { repository };
  const args =
    base === null
      ? ['ls-tree', '-r', '-z', tree]
      : ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', base, tree];
  const fields = splitZ((await room.run(args, { at })).raw);
  const blobs = fields.flatMap((field) =>
    base === null
      ? (/^\d+ blob ([0-9a-f]+)\t/.exec(field)?.[1] ?? [])
      : (/^:\d+ \d+ [0-9a-f]+ ([0-9a-f]+) [A-Z]/.exec(field)?.[1] ?? []),
  );
  const present = blobs.filter((id) => !/^0+$/.test(id));
  if (present.length === 0) return { files: blobs.length, bytes: 0 };
  const input = `${present.join('\n')}\n`;
  const sizes = await room.run(['cat-file', '--batch-check=%(objectsize)'], { at, input });
  const bytes = sizes.text
    .split('\n')
    .reduce((sum, line) => sum + (/^\d+$/.test(line) ? Number(line) : 0), 0);
  return { files: blobs.length, bytes };
}
