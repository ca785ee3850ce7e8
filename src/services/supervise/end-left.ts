import { OrchestratorError } from '../../core/errors/error.js';
import { isLiveWorker } from '../../core/state/states.js';
import { endProcesses } from '../../platform/launch/end-processes.js';
import { fact } from '../engine/deps.js';
import { recordLost } from '../engine/process-end.js';
import { requireOpen, type SessionContext } from '../session-context.js';
import { endLeftCommands } from './left-commands.js';

const GRACE_MS = 2_000;

/** Ends what agents that are over left running: it carries the mark of their attempt, wherever it went. */
export async function endLeftBehind({ clock, logger, store, sessionId }: SessionContext): Promise<void> {
  const over = store.attempts(sessionId).filter(({ state }) => state === 'ended');
  const ends = over.map(({ attempt_id: attemptId }) =>
    endProcesses({ agent: null, launcher: null, attemptId }, { graceMs: 0, clock }),
  );
  for (const end of await Promise.allSettled(ends))
    if (end.status === 'rejected' || end.value.survivors.length > 0)
      logger.error({ end }, 'what an agent left running could not be ended');
}

/**
 * Ends what the agents and commands of a supervisor that died still do; `retry`: the verb to be called again.
 * Throws SESSION_NOT_OVER when one survives.
 */
export async function endLeftWriters(session: SessionContext, retry: string): Promise<void> {
  await endLeftCommands(session);
  const { clock, store, sessionId } = session;
  for (const attempt of store.attempts(sessionId)) {
    if (attempt.state === 'ended') continue;
    const { pid, pid_started_at: pidStartedAt, attempt_id: attemptId } = attempt;
    const agent = pid === null || pidStartedAt === null ? null : { pid, pidStartedAt };
    const { verified, survivors } = await endProcesses(
      { agent, launcher: null, attemptId },
      { graceMs: GRACE_MS, clock },
    );
    if (!verified)
      throw new OrchestratorError('SESSION_NOT_OVER', {
        session: sessionId,
        state: 'crashed',
        problem: `processes of it could not be ended: ${survivors.join(', ')}`,
        hint: `end them by hand, and call ${retry} again`,
      });
  }
  await endLeftBehind(session);
}

/**
 * Does for a session whose supervisor died what the supervisor would have done: agents ended, then the row. What was
 * broken off goes on when the session is resumed. Throws SESSION_ENDED, SESSION_NOT_OVER.
 */
export async function endLeftSession(
  session: SessionContext,
  { state, reason }: { state: 'paused' | 'failed'; reason: string },
): Promise<void> {
  const { summary } = requireOpen(session);
  await endLeftWriters(session, state === 'paused' ? 'pause' : 'stop');
  const { store, sessionId } = session;
  for (const worker of store.workers(sessionId))
    if (isLiveWorker(worker.state)) recordLost(session, worker, reason);
  const subject = { session_id: sessionId, source: 'supervisor', evidence: 'process' } as const;
  store.append(
    state === 'paused'
      ? fact('session.paused', subject, { reason })
      : fact('session.ended', subject, { state, summary, reason }),
  );
}
