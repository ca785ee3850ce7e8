import { OrchestratorError } from '../../core/errors/error.js';
import { wasStopped } from '../../core/events/index.js';
import { isTerminalRun } from '../../core/state/states.js';
import type { SessionRow, WorkerRow } from '../../core/state/rows.js';
import { fact, lastRun, type FactSubject } from '../engine/deps.js';
import { requireLive, requireOpen, sessionRow, type SessionContext } from '../session-context.js';
import { isIntegrated } from './integrated.js';

export interface GoalDoneRequest {
  readonly summary: string;
  readonly discard: readonly { worker: string; reason: string }[];
  readonly force: boolean;
  readonly forceReason: string;
}

/**
 * The goal is done only with its proof: no worker at it, every succeeded editing worker integrated or discarded, and
 * the last verification passed exactly at the integration branch's head with a clean tree. `force` with a reason
 * overrides the last, and is recorded. Throws WORKERS_RUNNING, WORKERS_NOT_INTEGRATED, VERIFICATION_MISSING.
 */
export async function markGoalDone(session: SessionContext, request: GoalDoneRequest): Promise<void> {
  const live = requireLive(session);
  await live.integrating(async () => {
    // Said before; the answer to that call may have been lost.
    if (isMarked(session, 'done')) return;
    const row = requireOpen(session);
    const workers = session.store.workers(session.sessionId).filter((worker) => worker.role === 'worker');
    refuseRunning(session, workers);
    await refuseUnintegrated(session, workers, new Set(request.discard.map((entry) => entry.worker)));
    const proof = await proofOf(session, row);
    if (proof.problem !== null && !(request.force && request.forceReason.trim() !== ''))
      throw new OrchestratorError('VERIFICATION_MISSING', {
        problem: proof.problem,
        hint: request.force ? 'force needs force_reason: say why it is right without the proof' : undefined,
      });
    session.store.append(
      fact('goal.done', subject(session), {
        summary: request.summary,
        verify_id: proof.verifyId,
        forced: proof.problem === null ? null : request.forceReason,
        discarded: [...request.discard],
      }),
    );
  });
  live.finish();
}

export function markGoalFailed(session: SessionContext, reason: string): void {
  const live = requireLive(session);
  if (!isMarked(session, 'failed')) {
    requireOpen(session);
    session.store.append(fact('goal.failed', subject(session), { reason }));
  }
  live.finish();
}

function isMarked(session: SessionContext, verdict: 'done' | 'failed'): boolean {
  const row = sessionRow(session);
  return row.state === 'active' && row.verdict === verdict;
}

function refuseRunning(session: SessionContext, workers: readonly WorkerRow[]): void {
  const running = workers.filter((worker) => {
    const run = lastRun(session.store, worker);
    return run !== null && !isTerminalRun(run.state);
  });
  if (running.length > 0)
    throw new OrchestratorError('WORKERS_RUNNING', { workers: running.map((worker) => worker.worker_id) });
}

async function refuseUnintegrated(
  session: SessionContext,
  workers: readonly WorkerRow[],
  discarded: ReadonlySet<string>,
): Promise<void> {
  const missing: string[] = [];
  for (const worker of workers) {
    if (
      worker.read_only ||
      discarded.has(worker.worker_id) ||
      lastRun(session.store, worker)?.state !== 'succeeded'
    )
      continue;
    const status = await session.git.status(worker.worktree, worker.base_commit);
    if (!isIntegrated(worker, status)) missing.push(worker.worker_id);
  }
  if (missing.length > 0) throw new OrchestratorError('WORKERS_NOT_INTEGRATED', { workers: missing });
}

async function proofOf(
  session: SessionContext,
  row: SessionRow,
): Promise<{ verifyId: string | null; problem: string | null }> {
  const worktree = row.integration_worktree ?? '';
  const status = await session.git.status(worktree, row.base_commit);
  if (status.changedFiles.length > 0)
    throw new OrchestratorError('INTEGRATION_DIRTY', { files: status.changedFiles.slice(0, 20) });
  const last = session.store.verifications(session.sessionId).at(-1);
  if (last === undefined) return { verifyId: null, problem: 'nothing was verified yet' };
  const verifyId = last.verify_id;
  if (last.state === 'running') return { verifyId, problem: 'the verification still runs' };
  if (last.commit !== status.head)
    return { verifyId, problem: 'the integration branch has moved since the last verify' };
  if (wasStopped(last.results)) return { verifyId, problem: 'the last verify was interrupted' };
  if (last.state === 'failed') return { verifyId, problem: `the last verify failed: ${last.reason}` };
  return { verifyId, problem: null };
}

function subject(session: SessionContext): FactSubject {
  return { session_id: session.sessionId, source: 'mcp', evidence: 'protocol' };
}
