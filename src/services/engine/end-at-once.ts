import type { WorkerRow } from '../../core/state/rows.js';
import { isPerTurn } from '../../core/state/states.js';
import type { EngineDeps } from './deps.js';
import { endRun, type Ending } from './outcomes.js';

const GRACE_MS = 2_000;

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
  const { worker_id: workerId } = worker;
  if (isPerTurn(worker)) await deps.backend.stop(workerId, { graceMs: GRACE_MS });
  else await deps.backend.interrupt(workerId);
}

/** It took longer than it was given. */
export function timeOutRun(deps: EngineDeps, workerId: string, runId: string): void {
  const { store, sessionId, logger } = deps;
  const run = store.run(runId);
  if (run === null) return;
  const summary = `it took longer than the ${Math.round((run.timeout_ms ?? 0) / 1_000)} s that it was given`;
  const ending = { type: 'run.timed_out', summary, evidence: 'process' } as const;
  endAtOnce(deps, store.worker(sessionId, workerId), runId, ending).catch((error: unknown) =>
    logger.warn({ worker: workerId, err: error }, 'not interrupted'),
  );
}
