import { LEAD_ID } from '../../core/ids.js';
import { OrchestratorError, toOrchestratorError } from '../../core/errors/error.js';
import type { WorkerRow } from '../../core/state/rows.js';
import { sessionRow, type SessionContext } from '../session-context.js';

/**
 * The worker's worktree, made again from its branch where it was removed: it was clean then. Throws WORKTREE_INVALID
 * where it is not there and cannot be made.
 */
export async function ensureWorktree(session: SessionContext, worker: WorkerRow): Promise<void> {
  const { worktree: path, base_commit: base } = worker;
  if ((await session.git.status(path, base).catch(() => null)) !== null) return;
  const { repository, subdirectory, integration_branch: integration } = sessionRow(session);
  const branch = worker.worker_id === LEAD_ID ? integration : worker.branch;
  const commit = branch === null ? null : await session.git.resolve(repository, `refs/heads/${branch}`);
  if (branch === null || commit === null)
    throw invalid(path, `there is no worktree and no branch ${branch ?? ''} any more`);
  try {
    await session.git.createWorktree({ repository, path, branch, commit, subdirectory, existing: true });
  } catch (thrown) {
    const hint = `its branch ${branch} holds what it committed: spawn a new worker on it`;
    throw invalid(path, `there is no worktree any more (${toOrchestratorError(thrown).message})`, hint);
  }
}

function invalid(path: string, problem: string, hint?: string): OrchestratorError {
  return new OrchestratorError('WORKTREE_INVALID', { path, problem, hint });
}
