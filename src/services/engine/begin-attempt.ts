import { OrchestratorError } from '../../core/errors/error.js';
import type { AttemptRow, WorkerRow } from '../../core/state/rows.js';
import { isSameProcessAlive, ownIdentity } from '../../platform/identity.js';
import type { Reader } from '../../store/contract.js';
import { fact, type EngineDeps } from './deps.js';

/**
 * Commits that a process is about to be made for a run: from here on whoever finds the row looks for the process. A
 * conversation has one writer, whatever session it belongs to: throws THREAD_IN_USE where another worker's process is in
 * the one that this is to go on with.
 */
export function beginAttempt(
  { store, sessionId }: Pick<EngineDeps, 'store' | 'sessionId'>,
  worker: WorkerRow,
  attempt: { runId: string; attemptId: string; threadId: string | null },
): void {
  const { runId, attemptId, threadId } = attempt;
  store.transaction((tx) => {
    const writer = threadId === null ? undefined : otherWriter(tx, worker, threadId);
    if (threadId !== null && writer !== undefined) throw inUse(worker, threadId, writer);
    tx.append(
      fact(
        'run.started',
        {
          ...{ session_id: sessionId, worker_id: worker.worker_id, run_id: runId },
          ...{ source: 'supervisor', evidence: 'process' },
        },
        {
          attempt: (tx.run(runId)?.attempts ?? 0) + 1,
          attempt_id: attemptId,
          new_process: true,
          agent: worker.agent,
        },
      ),
    );
  });
}

function otherWriter(reader: Reader, worker: WorkerRow, threadId: string): AttemptRow | undefined {
  return reader
    .attemptsInThread(worker.agent, threadId)
    .filter((one) => one.session_id !== worker.session_id || one.worker_id !== worker.worker_id)
    .find((one) => isAtWork(reader, one));
}

/** Its process lives, or is being made by a supervisor that does. */
function isAtWork(
  reader: Reader,
  { session_id: sessionId, pid, pid_started_at: startedAt }: AttemptRow,
): boolean {
  if (pid !== null && startedAt !== null)
    return isSameProcessAlive({ pid, pidStartedAt: startedAt, bootId: ownIdentity().bootId });
  const owner = reader.lease(sessionId);
  return owner !== null && isSameProcessAlive(owner);
}

function inUse(worker: WorkerRow, threadId: string, writer: AttemptRow): OrchestratorError {
  const other = `worker ${writer.worker_id} of session ${writer.session_id}`;
  return new OrchestratorError('THREAD_IN_USE', { worker: worker.worker_id, thread: threadId, other });
}
