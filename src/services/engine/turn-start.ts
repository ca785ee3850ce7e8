import type { TurnStart } from '../../backends/contract.js';
import { isTerminalRun } from '../../core/state/states.js';
import type { Reader } from '../../store/contract.js';
import { beginAttempt } from './begin-attempt.js';
import { fact, openRun, type EngineDeps, type FactSubject } from './deps.js';
import type { NextDelivery } from './next-delivery.js';

/**
 * A place to run in for the next text of a worker whose agent is a process per turn: asked for at once, so that places
 * are given in the order of the texts. true where none is needed; false: called off before there was one.
 */
export async function placeFor(
  deps: EngineDeps,
  workerId: string,
  next: NextDelivery,
  signal: AbortSignal,
): Promise<boolean> {
  const { store, slots } = deps;
  const runId = runOf(deps, workerId, next);
  if (runId === null) return true;
  const order = store.message(next.messageIds[0] ?? '')?.accepted_seq ?? 0;
  if (!(await slots.take({ runId, order, ancestors: ancestorsOf(store, runId) }, signal))) return false;
  const run = store.run(runId);
  if (!signal.aborted && run !== null && !isTerminalRun(run.state)) return true;
  slots.give(runId);
  return false;
}

/**
 * The process that takes it; null where the agent stays. The attempt is committed: from here on whoever finds the row
 * looks for the process.
 */
export async function planTurn(
  deps: EngineDeps,
  workerId: string,
  next: NextDelivery,
): Promise<TurnStart | null> {
  const { store, sessionId } = deps;
  const worker = store.worker(sessionId, workerId);
  const make = worker === null ? null : deps.turn(worker);
  const runId = runOf(deps, workerId, next);
  const run = runId === null ? null : store.run(runId);
  if (worker === null || make === null || run === null) return null;
  const attemptId = deps.newId();
  const spec = await make(attemptId);
  const subject: FactSubject = {
    ...{ session_id: sessionId, worker_id: workerId, run_id: run.run_id },
    ...{ source: 'supervisor', evidence: 'process' },
  };
  beginAttempt(deps, worker, { runId: run.run_id, attemptId, threadId: worker.thread_id });
  return {
    spec,
    began: (started) => {
      store.append(
        fact('worker.started', subject, {
          attempt_id: attemptId,
          pane_id: started?.paneId ?? null,
          window: started?.window ?? null,
          pid: started?.pid ?? null,
          pid_started_at: started?.pidStartedAt ?? null,
        }),
      );
      // Cancelled, killed or timed out while its process was being made, when there was none yet to be ended.
      const now = store.run(run.run_id);
      if (now === null || isTerminalRun(now.state) || now.cancel_requested_at !== null)
        void deps.backend.stop(workerId, { graceMs: 0 });
    },
  };
}

/** No process came of it. */
export function leavePlace(deps: EngineDeps, workerId: string, next: NextDelivery): void {
  const runId = runOf(deps, workerId, next);
  if (runId !== null) deps.slots.give(runId);
}

/** null: its agent stays, and needs no process of its own for that. */
function runOf(deps: EngineDeps, workerId: string, next: NextDelivery): string | null {
  const worker = deps.store.worker(deps.sessionId, workerId);
  if (worker === null || deps.turn(worker) === null) return null;
  return next.runId ?? openRun(deps.store, deps.sessionId, workerId)?.run_id ?? null;
}

/** Nearest first. */
function ancestorsOf(reader: Reader, runId: string): string[] {
  const found: string[] = [];
  for (
    let parent = reader.run(runId)?.parent_run_id ?? null;
    parent !== null && !found.includes(parent);
    parent = reader.run(parent)?.parent_run_id ?? null
  )
    found.push(parent);
  return found;
}
