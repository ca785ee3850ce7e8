import type { TurnStart } from '../../backends/contract.js';
import { isTerminalRun } from '../../core/state/states.js';
import type { Reader } from '../../store/contract.js';
import { fact, openRun, type EngineDeps, type FactSubject } from './deps.js';
import type { NextDelivery } from './next-delivery.js';

/** `stays`: its agent is there for all turns. `called off`: before its process was made. */
export type TurnPlan = TurnStart | 'stays' | 'called off';

/**
 * The process that the next text of a worker needs, where its agent is one per turn: waits for a place to run in, then
 * commits the attempt. From here on whoever finds the row looks for the process.
 */
export async function planTurn(
  deps: EngineDeps,
  workerId: string,
  next: NextDelivery,
  signal: AbortSignal,
): Promise<TurnPlan> {
  const { store, sessionId } = deps;
  const worker = store.worker(sessionId, workerId);
  const make = worker === null ? null : deps.turn(worker);
  if (make === null) return 'stays';
  const runId = next.runId ?? openRun(store, sessionId, workerId)?.run_id;
  if (runId === undefined) return 'called off';
  if (!(await deps.slots.take({ runId, ancestors: ancestorsOf(store, runId) }, signal))) return 'called off';
  const run = store.run(runId);
  if (signal.aborted || run === null || isTerminalRun(run.state)) {
    deps.slots.give(runId);
    return 'called off';
  }
  const attemptId = deps.newId();
  const subject: FactSubject = {
    ...{ session_id: sessionId, worker_id: workerId, source: 'supervisor', evidence: 'process' },
    run_id: runId,
  };
  store.append(
    fact('run.started', subject, { attempt: run.attempts + 1, attempt_id: attemptId, new_process: true }),
  );
  const spec = await make(attemptId);
  return {
    spec,
    began: (started) =>
      store.append(
        fact('worker.started', subject, {
          attempt_id: attemptId,
          pane_id: started.paneId,
          window: started.window,
          pid: started.pid,
          pid_started_at: started.pidStartedAt,
        }),
      ),
  };
}

/** Nearest first. */
export function ancestorsOf(reader: Reader, runId: string): string[] {
  const found: string[] = [];
  for (
    let parent = reader.run(runId)?.parent_run_id ?? null;
    parent !== null && !found.includes(parent);
    parent = reader.run(parent)?.parent_run_id ?? null
  )
    found.push(parent);
  return found;
}
