import { fact } from '../engine/deps.js';
import { requireOpen, sessionRow, type SessionContext } from '../session-context.js';
import { endLeftSession } from './end-left.js';

/**
 * Ends a session as failed by a person's word; it can be resumed. One that is paused has nothing left to end, and needs
 * no supervisor for it; of one whose supervisor died, the agents are ended here. Throws SESSION_ENDED, SESSION_NOT_OVER.
 */
export async function stopSession(session: SessionContext, why: string): Promise<void> {
  const reason = why === '' ? 'stopped by the person' : `stopped: ${why}`;
  const row = sessionRow(session);
  if (row.state !== 'paused') {
    requireOpen(session);
    if (session.live === null) return endLeftSession(session, { state: 'failed', reason });
    return session.live.stop(reason);
  }
  const subject = { session_id: session.sessionId, source: 'supervisor', evidence: 'protocol' } as const;
  session.store.append(fact('session.ended', subject, { state: 'failed', summary: row.summary, reason }));
}

/** Like `stopSession`, to be gone on with; of one that is paused already, nothing. Throws SESSION_ENDED, SESSION_NOT_OVER. */
export async function pauseSession(session: SessionContext, reason: string): Promise<void> {
  if (session.live !== null) return session.live.pause(reason);
  if (sessionRow(session).state !== 'paused') await endLeftSession(session, { state: 'paused', reason });
}
