import { durationWords } from '../../core/duration.js';
import type { RunRow, WorkerRow } from '../../core/state/rows.js';
import { isPerTurn } from '../../core/state/states.js';
import type { EngineDeps } from './deps.js';
import { endRun, type Ending } from './outcomes.js';

const GRACE_MS = 2_000;

/** What a worker is at is broken off: its agent is interrupted, or, where it is a process per turn, ended. */
export async function breakOffTurn({ backend }: EngineDeps, worker: WorkerRow): Promise<void> {
  if (isPerTurn(worker)) await backend.stop(worker.worker_id, { graceMs: GRACE_MS });
  else await backend.interrupt(worker.worker_id);
}

/** Its agent is ended for it, or at least interrupted; the run is over whatever that leads to. */
export async function endAtOnce(
  deps: EngineDeps,
  worker: WorkerRow | null,
  runId: string,
  ending: Ending,
): Promise<void> {
  const was = deps.store.run(runId);
  if (worker === null || !deps.store.transaction((tx) => endRun(deps, tx, worker, runId, ending))) return;
  // Nothing of ours is at it: what this worker does is another run.
  if (was?.executor === 'external' || was?.state === 'queued') return;
  await breakOffTurn(deps, worker);
}

/** Its agent gave no sign for longer than it may. */
export function endSilentRun(deps: EngineDeps, run: RunRow, quietMs: number): void {
  const summary = `its agent gave no sign for ${durationWords(quietMs)}: no output, no call, no CPU time`;
  end(deps, run, { type: 'run.timed_out', summary, evidence: 'silence' });
}

/** It took longer than it was given. */
export function timeOutRun(deps: EngineDeps, runId: string): void {
  const run = deps.store.run(runId);
  if (run === null) return;
  const summary = `it took longer than the ${Math.round((run.timeout_ms ?? 0) / 1_000)} s that it was given`;
  end(deps, run, { type: 'run.timed_out', summary, evidence: 'process' });
}

function end(deps: EngineDeps, { worker_id: workerId, run_id: runId }: RunRow, ending: Ending): void {
  const { store, sessionId, logger } = deps;
  endAtOnce(deps, store.worker(sessionId, workerId), runId, ending).catch((error: unknown) =>
    logger.warn({ worker: workerId, err: error }, 'not interrupted'),
  );
}
