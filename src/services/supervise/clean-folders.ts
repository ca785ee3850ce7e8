import { basename, dirname, join } from 'node:path';
import { toOrchestratorError } from '../../core/errors/error.js';
import type { SessionRow } from '../../core/state/rows.js';
import { diskUse, isThere, namesIn } from '../../platform/disk.js';
import { removeTree } from '../../platform/files.js';
import type { SessionContext } from '../session-context.js';
import type { Cleaning } from './clean-report.js';
import { worktreesOf } from './clean-worktrees.js';
import { KEPT_FOLDER } from './keep-work.js';
import { isDelivered } from './left-state.js';

/** The session's own folders, which hold nothing but what is in the database too, or is worthless without its processes. */
export async function cleanFolders(
  session: SessionContext,
  row: SessionRow,
  cleaning: Cleaning,
): Promise<void> {
  const { data } = session.places;
  const temp = row.directory ?? session.places.directory;
  if (basename(temp) === `agentorchestr-${row.session_id}`) await remove(cleaning, temp);
  const own = await namesIn(data);
  const keeps = own.includes(KEPT_FOLDER) || cleaning.salvaged.some(({ kept_in: folder }) => folder !== null);
  if (keeps)
    for (const name of own.filter((other) => other !== KEPT_FOLDER)) await remove(cleaning, join(data, name));
  else await remove(cleaning, data);
  const worktrees = worktreesOf(session, row);
  // In a dry run what is in it is still there.
  if (!cleaning.dryRun && (await namesIn(worktrees)).length === 0) await remove(cleaning, worktrees);
}

/**
 * The private repository of a folder that is none itself: it holds the only copy of what its refs name, so it goes only
 * when the result is in the folder and nothing was salvaged.
 */
export async function cleanRepository(
  session: SessionContext,
  row: SessionRow,
  { repository, cleaning }: { repository: string | null; cleaning: Cleaning },
): Promise<void> {
  if (row.options['imported'] !== true || repository === null) return;
  if (dirname(repository) !== session.places.imported) return;
  const { bytes } = await diskUse([repository]);
  const nothingToDeliver = row.integration_commit === null;
  const kept = await session.git.listSalvaged({
    repository,
    sessionId: row.session_id,
    base: row.base_commit,
  });
  if (kept.length > 0 || cleaning.salvaged.length > 0)
    cleaning.left.push({ what: repository, reason: 'the salvaged work is in it', bytes });
  else if (cleaning.left.length > 0 || !(nothingToDeliver || isDelivered(row)))
    cleaning.left.push({ what: repository, reason: 'what stays needs it', bytes });
  else await remove(cleaning, repository, 'repository');
}

async function remove(
  cleaning: Cleaning,
  path: string,
  what: 'folder' | 'repository' = 'folder',
): Promise<void> {
  if (!(await isThere(path))) return;
  const { bytes } = await diskUse([path]);
  try {
    if (!cleaning.dryRun) await removeTree(path);
    cleaning.removed.push({ what, name: path, bytes, note: null });
  } catch (error) {
    cleaning.left.push({ what: path, reason: toOrchestratorError(error).message, bytes });
  }
}
