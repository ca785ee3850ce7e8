import { OrchestratorError } from '../../core/errors/error.js';
import type { SessionRow } from '../../core/state/rows.js';
import { sessionRow, type SessionContext } from '../session-context.js';

/** The state of a session that this process holds the lease of: an active one was left by a supervisor that died. */
export function leftState(row: SessionRow): string {
  return row.state === 'active' ? 'crashed' : row.state;
}

/** Throws SESSION_NOT_OVER while a supervisor has the session. */
export function requireLeft(session: SessionContext): SessionRow {
  const row = sessionRow(session);
  if (session.live === null) return row;
  throw new OrchestratorError('SESSION_NOT_OVER', {
    session: row.session_id,
    state: 'active',
    problem: 'its supervisor and its agents are at work',
    hint: `let it end, or end it: agentorchestr pause ${row.session_id}`,
  });
}

/** The result is in the user's files already, as a merge or as a difference. */
export function isDelivered({ applied }: SessionRow): boolean {
  return applied !== null && !applied.startsWith('not applied') && applied !== 'nothing to apply';
}
