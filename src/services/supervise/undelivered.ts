import type { MessageRow } from '../../core/state/rows.js';
import { lastRun } from '../engine/deps.js';
import type { SessionContext } from '../session-context.js';

/** What was said to a worker during its last run and was refused when that run was broken off. */
export function undeliveredOf(session: SessionContext, workerId: string): readonly string[] {
  const worker = session.store.worker(session.sessionId, workerId);
  const run = worker === null ? null : lastRun(session.store, worker);
  if (run === null) return [];
  return undeliveredIn(session, workerId, run.run_id).map(({ text }) => text);
}

/** Refused when its run was broken off, or typed and not proven. */
export function undeliveredIn(
  { store, sessionId }: SessionContext,
  workerId: string,
  runId: string,
): MessageRow[] {
  return store
    .messages(sessionId, workerId)
    .filter(
      ({ run_id: of, kind, state, started_at: startedAt }) =>
        of === runId &&
        (kind === 'task' || kind === 'follow_up') &&
        (state === 'refused' || state === 'unconfirmed') &&
        startedAt === null,
    );
}
