import { OrchestratorError } from '../../core/errors/error.js';
import type { RunRow, WorkerRow } from '../../core/state/rows.js';
import { fact, lastRun, openRun } from '../engine/deps.js';
import { findWorker, requireLive, type SessionContext } from '../session-context.js';

/**
 * A worker's own report. "Done" with uncommitted or no changes is sent back once with the file list (REPORT_INCOMPLETE);
 * the second report is taken as it is. Throws NOTHING_TO_ANSWER when no run of it is open.
 */
export async function reportByWorker(
  session: SessionContext,
  workerId: string,
  report: { state: 'succeeded' | 'blocked'; summary: string },
): Promise<void> {
  const live = requireLive(session);
  const worker = findWorker(session, workerId);
  const run = openRun(session.store, session.sessionId, workerId);
  const summary = session.redact(report.summary);
  // The answer to the first call may have been lost.
  const said = lastRun(session.store, worker)?.reported.at(-1);
  if (run === null && said?.state === report.state && said.summary === summary) return;
  if (run === null) throw new OrchestratorError('NOTHING_TO_ANSWER', { worker: workerId });
  if (report.state === 'succeeded') await sendBackOnce(session, worker, run, summary);
  if (!live.engine.report(workerId, { state: report.state, summary }, 'protocol'))
    throw new OrchestratorError('NOTHING_TO_ANSWER', { worker: workerId });
}

async function sendBackOnce(
  session: SessionContext,
  worker: WorkerRow,
  run: RunRow,
  summary: string,
): Promise<void> {
  if (worker.read_only || run.reports_returned > 0) return;
  const status = await session.git.status(worker.worktree, worker.base_commit);
  const problem = problemOf(run, status.changedFiles, status.commitsBeyondBase);
  if (problem === null) return;
  session.store.append(
    fact(
      'run.reported',
      {
        session_id: session.sessionId,
        worker_id: worker.worker_id,
        run_id: run.run_id,
        source: 'mcp',
        evidence: 'protocol',
      },
      { state: 'succeeded', summary, accepted: false },
    ),
  );
  throw new OrchestratorError('REPORT_INCOMPLETE', { problem });
}

/** Only a first task must leave commits: a follow-up may be a question or a review. */
function problemOf(run: RunRow, changed: readonly string[], commits: number): string | null {
  if (changed.length > 0) {
    const shown = changed.slice(0, 20).join(', ');
    return `uncommitted changes in ${shown}${changed.length > 20 ? ` and ${changed.length - 20} more` : ''}`;
  }
  return run.number === 1 && commits === 0 ? 'nothing was changed or committed' : null;
}
