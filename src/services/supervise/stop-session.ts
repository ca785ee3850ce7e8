import { fact } from '../engine/deps.js';
import { requireLive, requireOpen, sessionRow, type SessionContext } from '../session-context.js';

/**
 * Ends a session as failed by a person's word; it can be resumed. One that is paused has nothing left to end, and needs
 * no supervisor for it. Throws SESSION_ENDED, SUPERVISOR_NOT_RUNNING.
 */
export function stopSession(session: SessionContext, why: string): void {
  const reason = why === '' ? 'stopped by the person' : `stopped: ${why}`;
  const row = sessionRow(session);
  if (row.state !== 'paused') {
    requireOpen(session);
    return requireLive(session).stop(reason);
  }
  const subject = { session_id: session.sessionId, source: 'supervisor', evidence: 'protocol' } as const;
  session.store.append(fact('session.ended', subject, { state: 'failed', summary: row.summary, reason }));
}
