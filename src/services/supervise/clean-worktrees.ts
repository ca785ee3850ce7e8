import { dirname, join } from 'node:path';
import { toOrchestratorError } from '../../core/errors/error.js';
import type { SessionRow } from '../../core/state/rows.js';
import type { SalvageResult } from '../../git/contract.js';
import { diskUse, isThere, namesIn } from '../../platform/disk.js';
import type { SessionContext } from '../session-context.js';
import type { Cleaning } from './clean-report.js';
import { keepWork, keptIgnoredIn } from './keep-work.js';

/** A worktree that the session made, or that lies among those. */
export interface LeftTree {
  /** Part of its salvage ref: the worker's id, `integration`, or the folder's name. */
  readonly name: string;
  readonly path: string;
  readonly branch: string | null;
  readonly base: string;
}

export function worktreesOf(session: SessionContext, row: SessionRow): string {
  return row.integration_worktree === null ? session.places.worktrees : dirname(row.integration_worktree);
}

/** In the order in which they go: the integration worktree first, strangers last. */
export async function leftTrees(session: SessionContext, row: SessionRow): Promise<readonly LeftTree[]> {
  const base = row.base_commit;
  const folder = worktreesOf(session, row);
  const integration = row.integration_worktree ?? join(folder, 'integration');
  const known: LeftTree[] = [
    { name: 'integration', path: integration, branch: row.integration_branch, base },
    ...session.store
      .workers(row.session_id)
      .filter(({ role }) => role === 'worker')
      .map((worker) => ({
        name: worker.worker_id,
        path: worker.worktree,
        branch: worker.branch,
        base: worker.base_commit,
      })),
  ];
  const others = (await namesIn(folder))
    .map((name) => join(folder, name))
    .filter((path) => known.every((tree) => tree.path !== path))
    .map((path) => ({ name: refName(path), path, branch: null, base }));
  return [...known, ...others];
}

/** A folder's name as a part of a ref. */
function refName(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1).replaceAll(/[^\w-]+/g, '_');
  return name === '' ? 'folder' : `folder-${name}`.replace(/^folder-verify-/, 'verify-');
}

interface Ground {
  /** null: the user deleted it, or moved it somewhere. */
  readonly repository: string | null;
  readonly trees: readonly LeftTree[];
  readonly cleaning: Cleaning;
}

/** Keeps what each worktree holds, then removes it; what cannot be kept stays where it is. */
export async function cleanWorktrees(
  session: SessionContext,
  row: SessionRow,
  ground: Ground,
): Promise<void> {
  const done = new Set<string>();
  for (const tree of ground.trees) await cleanTree(session, row, { ...ground, tree, done });
}

async function cleanTree(
  session: SessionContext,
  row: SessionRow,
  { repository, tree, cleaning, done }: Ground & { tree: LeftTree; done: Set<string> },
): Promise<void> {
  if (done.has(tree.path)) return;
  if (repository === null) return leaveOrphan(row, tree, cleaning);
  const stays = (what: string, reason: string) => {
    if (tree.branch !== null) cleaning.stayingBranches.add(tree.branch);
    return leave(cleaning, what, reason);
  };
  const found = await session.git.locateWorktree({ repository, path: tree.path, branch: tree.branch });
  if (found.state === 'none') return;
  if (found.state === 'moved')
    return stays(found.path, 'it was moved here by hand, and stays with its branch');
  if (found.state === 'broken') return stays(found.path, found.problem);
  const path = found.state === 'present' ? found.path : tree.path;
  done.add(path);
  try {
    const kept = await keep(session, row, { repository, tree, path, cleaning });
    if (kept !== null && kept.notKept.length > 0)
      return await stays(path, `these cannot be kept: ${kept.notKept.join(', ')}`);
    const { bytes } = await diskUse([path]);
    if (!cleaning.dryRun) await session.git.removeWorktree({ repository, path, trash: session.places.trash });
    const note = found.state === 'gone' ? 'its folder was gone already; git still knew its commits' : null;
    cleaning.removed.push({ what: 'worktree', name: path, bytes, note });
  } catch (error) {
    await stays(path, toOrchestratorError(error).message);
  }
}

/** The repository is gone, and with it all history: the files of the worktree are what there is. */
async function leaveOrphan(row: SessionRow, { path }: LeftTree, cleaning: Cleaning): Promise<void> {
  if (!(await isThere(path))) return;
  const reason = `its repository ${row.repository} is gone, so these files are all there is; if you moved it: git -C NEW-PLACE worktree repair ${path}`;
  await leave(cleaning, path, reason);
}

async function leave({ left }: Cleaning, what: string, reason: string): Promise<void> {
  left.push({ what, reason, bytes: (await diskUse([what])).bytes });
}

async function keep(
  session: SessionContext,
  row: SessionRow,
  {
    repository,
    tree,
    path,
    cleaning,
  }: Omit<Ground, 'trees' | 'repository'> & {
    repository: string;
    tree: LeftTree;
    path: string;
  },
): Promise<SalvageResult | null> {
  const { name, base, branch } = tree;
  const { dryRun } = cleaning;
  const kept = await keepWork(session, row, {
    ...{ name, repository, worktree: path, base, branch, unheldOnly: true, dryRun },
  });
  if (kept !== null)
    cleaning.salvaged.push({
      worker: name,
      ref: kept.ref,
      commit: kept.commit,
      ignored_files: [...kept.ignoredFiles],
      kept_in: kept.ignoredFiles.length === 0 ? null : keptIgnoredIn(session, name),
      submodules: [...kept.submodules],
    });
  return kept;
}
