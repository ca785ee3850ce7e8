import { OrchestratorError } from '../../core/errors/error.js';
import { isTerminalRun, workerWord } from '../../core/state/states.js';
import type { SessionRow, WorkerRow } from '../../core/state/rows.js';
import { fact, lastRun, type FactSubject } from '../engine/deps.js';
import { findWorker, requireLive, requireOpen, type SessionContext } from '../session-context.js';
import { sendToWorker } from './send-to-worker.js';

export interface IntegrateRequest {
  readonly workerId: string;
  readonly strategy: 'merge' | 'squash' | 'cherry-pick';
  readonly onConflict: 'report' | 'worker';
  readonly commit: boolean;
  readonly sender: string;
}

export interface Integration {
  readonly merged: boolean;
  readonly commit: string | null;
  readonly conflicts: readonly string[];
  readonly sentBack: boolean;
  /** Nothing was done: it committed nothing of its own. */
  readonly isEmpty: boolean;
}

/**
 * Merges a worker's branch into the integration branch, or returns the conflicting files with no tree touched.
 * Throws WORKER_BUSY, WORKER_DIRTY, WORKER_READ_ONLY, INTEGRATION_DIRTY.
 */
export async function integrateWorker(
  session: SessionContext,
  request: IntegrateRequest,
): Promise<Integration> {
  const live = requireLive(session);
  const row = requireOpen(session);
  return live.integrating(async () => {
    const worker = findWorker(session, request.workerId);
    const { commit, hasOwn } = await readyCommit(session, worker, request.commit);
    const result = await session.git.integrate({
      repository: row.repository,
      worktree: row.integration_worktree ?? '',
      commit,
      base: worker.base_commit,
      strategy: request.strategy,
      message: mergeMessage(worker),
    });
    if (!result.merged) return sendBack(session, row, worker, request, result.conflicts);
    if (result.alreadyIn && !hasOwn)
      return { merged: false, commit: null, conflicts: [], sentBack: false, isEmpty: true };
    session.store.append(
      fact('branch.integrated', subject(session, worker), {
        worker: worker.worker_id,
        branch: worker.branch ?? '',
        worker_commit: commit,
        integration_commit: result.commit,
        strategy: request.strategy,
      }),
    );
    return { merged: true, commit: result.commit, conflicts: [], sentBack: false, isEmpty: false };
  });
}

/**
 * The commit to take: the worker's run is over, its tree clean (or committed here), its role may change the result.
 * `hasOwn`: it is not just what the worker began with.
 */
async function readyCommit(
  session: SessionContext,
  worker: WorkerRow,
  commitFirst: boolean,
): Promise<{ commit: string; hasOwn: boolean }> {
  const { worker_id } = worker;
  if (worker.role === 'lead' || worker.read_only)
    throw new OrchestratorError('WORKER_READ_ONLY', { worker: worker_id, perspective: worker.perspective });
  const run = lastRun(session.store, worker);
  if (run !== null && !isTerminalRun(run.state))
    throw new OrchestratorError('WORKER_BUSY', { worker: worker_id, state: workerWord(worker.state, run) });
  const status = await session.git.status(worker.worktree, worker.base_commit);
  if (status.changedFiles.length === 0) return { commit: status.head, hasOwn: status.commitsBeyondBase > 0 };
  if (!commitFirst)
    throw new OrchestratorError('WORKER_DIRTY', {
      worker: worker_id,
      files: status.changedFiles.slice(0, 20),
    });
  const commit = await session.git.commitAll(worker.worktree, `wip: uncommitted work of ${worker_id}`);
  return { commit: commit ?? status.head, hasOwn: commit !== null || status.commitsBeyondBase > 0 };
}

async function sendBack(
  session: SessionContext,
  row: SessionRow,
  worker: WorkerRow,
  request: IntegrateRequest,
  conflicts: readonly string[],
): Promise<Integration> {
  const back = request.onConflict === 'worker';
  if (back)
    await sendToWorker(session, {
      workerId: worker.worker_id,
      text: resolveText(row, conflicts),
      sender: request.sender,
    });
  session.store.append(
    fact('conflict.predicted', subject(session, worker), {
      worker: worker.worker_id,
      files: [...conflicts],
      sent_back: back,
    }),
  );
  return { merged: false, commit: null, conflicts, sentBack: back, isEmpty: false };
}

function resolveText(row: SessionRow, conflicts: readonly string[]): string {
  return [
    `Your branch conflicts with what is integrated already, in: ${conflicts.join(', ')}.`,
    `In your worktree run: git merge ${row.integration_branch}`,
    'Resolve the conflicts so that both changes keep their meaning, run the tests, commit the merge, and report again.',
  ].join('\n');
}

function mergeMessage(worker: WorkerRow): string {
  const task = worker.task.split('\n')[0]?.slice(0, 60) ?? '';
  return `Integrate ${worker.worker_id} (${worker.perspective}): ${task}`;
}

function subject(session: SessionContext, worker: WorkerRow): FactSubject {
  return { session_id: session.sessionId, worker_id: worker.worker_id, source: 'git', evidence: 'process' };
}
