import { dirname, join } from 'node:path';
import type { SessionRow } from '../../core/state/rows.js';
import { diskUse, namesIn } from '../../platform/disk.js';
import type { SessionContext } from '../session-context.js';
import { worktreesOf } from './clean-worktrees.js';
import { KEPT_FOLDER } from './keep-work.js';
import type { DiskReport } from './session-report.js';

/** What a session occupies beside the user's repository. Worktrees may be large: ask only where somebody looks. */
export async function keptOnDisk(session: SessionContext, row: SessionRow): Promise<DiskReport> {
  const { data, directory, imported } = session.places;
  const isOwn = row.options['imported'] === true && dirname(row.repository) === imported;
  const files = (await namesIn(data)).filter((name) => name !== KEPT_FOLDER).map((name) => join(data, name));
  const parts = await Promise.all([
    diskUse([worktreesOf(session, row)]),
    diskUse([join(data, KEPT_FOLDER)]),
    diskUse(isOwn ? [row.repository] : []),
    diskUse([...files, row.directory ?? directory]),
  ]);
  const [worktrees, salvage, repository, own] = parts;
  return {
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
    complete: parts.every(({ complete }) => complete),
    worktrees: worktrees.bytes,
    salvage: salvage.bytes,
    repository: repository.bytes,
    session: own.bytes,
  };
}
