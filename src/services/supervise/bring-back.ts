import { toOrchestratorError } from '../../core/errors/error.js';
import type { WorkerRow } from '../../core/state/rows.js';
import { fact, openRun, type FactSubject } from '../engine/deps.js';
import { beginsAnew } from '../engine/gap.js';
import { workerDirectory } from '../places.js';
import type { LiveSession, SessionContext } from '../session-context.js';
import { ensureWorktree } from './ensure-worktree.js';
import { launchAgent } from './launch-agent.js';

/**
 * A worker whose process is over gets a new one for the run that waits for it: in its own worktree and conversation.
 * Where its agent names no conversation, the new one is told what was said. Never throws: what goes wrong ends the run.
 */
export function bringBack(session: SessionContext, live: LiveSession, worker: WorkerRow): void {
  const { worker_id: workerId } = worker;
  if (live.launching.has(workerId)) return;
  const launch = startAgain(session, live, worker).catch((thrown: unknown) => {
    const { code, message } = toOrchestratorError(thrown);
    session.logger.warn({ worker: workerId, code, err: thrown }, 'a worker could not be brought back');
    const summary = `its agent could not be started again: ${message}`;
    const ending = { type: 'run.failed', summary, evidence: 'process', failureCode: code } as const;
    live.engine.endOpenRuns(worker, ending);
    if (session.store.worker(session.sessionId, workerId)?.state === 'starting')
      session.store.append(fact('worker.lost', subject(session, worker), { reason: summary }));
    return null;
  });
  live.launching.set(workerId, launch);
  void launch.finally(() => {
    live.launching.delete(workerId);
    // What came while it could not be started.
    live.engine.pump(workerId);
  });
}

async function startAgain(
  session: SessionContext,
  live: LiveSession,
  worker: WorkerRow,
): Promise<string | null> {
  const { worker_id: workerId, attempt_id: attemptId, thread_id: threadId } = worker;
  await ensureWorktree(session, worker);
  const directory = workerDirectory(session.places, workerId);
  // Nothing of the process before may still be at its conversation, or in its worktree.
  if (attemptId !== null) await live.backend.lookBack({ workerId, attemptId, directory });
  const run = openRun(session.store, session.sessionId, workerId);
  if (run === null) return null;
  const hasSpoken = session.store
    .messages(session.sessionId, workerId)
    .some(({ started_at: startedAt }) => startedAt !== null);
  if (threadId === null && hasSpoken && !beginsAnew(session, workerId)) {
    const reason = 'its agent named no conversation that a new process could go on with';
    session.store.append(fact('thread.lost', subject(session, worker), { thread_id: '', reason }));
  }
  const started = await launchAgent(session, live, worker, { runId: run.run_id, resumeThreadId: threadId });
  return started?.paneId ?? null;
}

function subject(session: SessionContext, worker: WorkerRow): FactSubject {
  return {
    ...{ session_id: session.sessionId, worker_id: worker.worker_id },
    ...{ source: 'supervisor', evidence: 'process' },
  };
}
