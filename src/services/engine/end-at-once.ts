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
  if (worker === null || !deps.store.transaction((tx) => endRun(deps, tx, worker, runId, ending))) return;
  const { worker_id: workerId } = worker;
  if (isPerTurn(worker)) await deps.backend.stop(workerId, { graceMs: GRACE_MS });
  else await deps.backend.interrupt(workerId);
}
