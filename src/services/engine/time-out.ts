import { isPerTurn } from '../../core/state/states.js';
import type { EngineDeps } from './deps.js';
import { endRun } from './outcomes.js';

/** Its agent is ended for it, or at least interrupted; the run is over whatever that leads to. */
export function timeOutRun(deps: EngineDeps, workerId: string, runId: string): void {
  const { store, sessionId, backend, logger } = deps;
  const worker = store.worker(sessionId, workerId);
  const run = store.run(runId);
  if (worker === null || run === null) return;
  const summary = `it took longer than the ${Math.round((run.timeout_ms ?? 0) / 1_000)} s that it was given`;
  const ending = { type: 'run.timed_out', summary, evidence: 'process' } as const;
  if (!store.transaction((tx) => endRun(deps, tx, worker, runId, ending))) return;
  const work = isPerTurn(worker) ? backend.stop(workerId, { graceMs: 2_000 }) : backend.interrupt(workerId);
  work.catch((error: unknown) => logger.warn({ worker: workerId, err: error }, 'not interrupted'));
}
