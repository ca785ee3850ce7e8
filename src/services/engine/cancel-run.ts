import { isPerTurn, isTerminalRun, type Evidence } from '../../core/state/states.js';
import type { RunRow } from '../../core/state/rows.js';
import { fact, type EngineDeps, type FactSubject } from './deps.js';
import { undelivered } from './instruct.js';
import { endRun } from './outcomes.js';
import { breakOffTurn } from './end-at-once.js';

export interface CancelRequest {
  readonly by: string;
  readonly reason: string;
  /** Absent: `protocol`. */
  readonly evidence?: Evidence;
}

/**
 * Asks a run to end, and every run that it asked for. One that has not begun is over at once; the agent of one that has
 * is interrupted, and whatever comes of that settles as cancelled. Resolves when the processes of the turns are gone.
 */
export async function cancelRun(deps: EngineDeps, runId: string, request: CancelRequest): Promise<void> {
  const { store, sessionId } = deps;
  const run = store.run(runId);
  if (run === null) return;
  const children = store.runs(sessionId).filter(({ parent_run_id: parent }) => parent === runId);
  await Promise.all([
    ...children.map((child) => cancelRun(deps, child.run_id, request)),
    cancelOne(deps, run, request),
  ]);
}

async function cancelOne(deps: EngineDeps, run: RunRow, request: CancelRequest): Promise<void> {
  const { store, sessionId } = deps;
  const { by, reason, evidence = 'protocol' } = request;
  const { worker_id: workerId, run_id: runId } = run;
  const isRunning = store.transaction((tx) => {
    const now = tx.run(runId);
    const worker = tx.worker(sessionId, workerId);
    if (now === null || worker === null || isTerminalRun(now.state)) return false;
    const subject: FactSubject = {
      ...{ session_id: sessionId, worker_id: workerId, run_id: runId },
      ...{ source: 'supervisor', evidence },
    };
    if (now.cancel_requested_at === null) tx.append(fact('run.cancel_requested', subject, { by, reason }));
    // Whoever does it sees that it is not wanted any more.
    if (now.state === 'running') return now.executor === 'pool';
    const kept = undelivered(tx.messages(sessionId, workerId)).filter(({ run_id: of }) => of === runId);
    endRun(deps, tx, worker, runId, { type: 'run.cancelled', summary: reason, evidence });
    tx.append(
      ...kept.map(({ message_id }) => fact('message.refused', subject, { message_id, reason: 'cancelled' })),
    );
    return now.state === 'waiting' && now.executor === 'pool' && isPerTurn(worker);
  });
  const worker = store.worker(sessionId, workerId);
  if (isRunning && worker !== null) await breakOffTurn(deps, worker);
}
