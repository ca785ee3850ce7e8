import type { RunRow, WorkerRow } from '../../core/state/rows.js';
import type { Evidence } from '../../core/state/states.js';
import type { Transaction } from '../../store/contract.js';
import { fact, type EngineDeps, type FactSubject, type FaultOfAgent } from './deps.js';
import { hasOutput } from './fall-back.js';

interface Failed extends FaultOfAgent {
  readonly attemptId: string;
  readonly evidence: Evidence;
  readonly thread: 'unknown' | 'in_use' | null;
  /** See `Failure`. */
  readonly hasSaid: boolean;
}

/** A run that nobody has begun is for the first of the list, whoever did the one before. */
export function beginWithFirst(deps: EngineDeps, workerId: string, runId: string | undefined): void {
  const { store, sessionId, agents } = deps;
  const worker = store.worker(sessionId, workerId);
  const run = runId === undefined ? null : store.run(runId);
  const [first] = worker === null ? [] : (agents?.of(worker) ?? []);
  if (worker === null || run === null || run.agent !== null || run.attempts > 0) return;
  if (first !== undefined && first !== worker.agent)
    store.append(switched(subjectOf(deps, run), worker, first, null));
}

/**
 * Gives the run to the next of the list, in an attempt of its own: only while nobody has said or done anything for it.
 * After that the work is half done, and somebody has to look at it. false: nothing of that.
 */
export function askNext(
  deps: EngineDeps,
  tx: Transaction,
  worker: WorkerRow,
  failed: { run: RunRow; failure: Failed },
): boolean {
  const { run, failure } = failed;
  const list = deps.agents?.of(worker) ?? [];
  const at = list.indexOf(worker.agent);
  const next = at === -1 ? undefined : list[at + 1];
  if (next === undefined || run.cancel_requested_at !== null || failure.thread === 'in_use') return false;
  if (deps.agents?.isAtFault(failure) !== true) return false;
  if (failure.hasSaid || hasOutput(tx, worker, run)) return false;
  const { attemptId: attempt_id, reason, evidence } = failure;
  const subject: FactSubject = { ...subjectOf(deps, run), evidence };
  tx.append(
    // It is not its fault that it was asked.
    fact('run.attempt_failed', subject, { attempt_id, reason, counts: false }),
    switched(subject, worker, next, reason),
    ...tx
      .messages(deps.sessionId, worker.worker_id)
      .filter(({ run_id: of, kind }) => of === run.run_id && (kind === 'task' || kind === 'follow_up'))
      .map(({ message_id }) => fact('message.queued', subject, { message_id })),
  );
  return true;
}

function switched(subject: FactSubject, { agent: from }: WorkerRow, agent: string, reason: string | null) {
  return fact('worker.switched', subject, { agent, from, reason });
}

function subjectOf({ sessionId }: EngineDeps, run: RunRow): FactSubject {
  return {
    ...{ session_id: sessionId, worker_id: run.worker_id, run_id: run.run_id },
    ...{ source: 'supervisor', evidence: 'process' },
  };
}
