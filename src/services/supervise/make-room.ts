import type { WorkerRow } from '../../core/state/rows.js';
import { lastRun } from '../engine/deps.js';
import { isLiveLimit } from './limits.js';
import type { LiveSession, SessionContext } from '../session-context.js';
import { isIntegrated } from './integrated.js';

const GRACE_MS = 2_000;

/** Does what brings one more worker to life; where the limit is in the way, a worker that is not needed makes room. */
export async function withRoom<T>(session: SessionContext, live: LiveSession, work: () => T): Promise<T> {
  for (;;)
    try {
      return work();
    } catch (error) {
      if (!isLiveLimit(error) || !(await makeRoom(session, live))) throw error;
    }
}

/**
 * Ends the agent of the worker that has been idle longest and whose work is integrated. It keeps its worktree and its
 * conversation; a message brings it back. false: there is none.
 */
async function makeRoom(session: SessionContext, live: LiveSession): Promise<boolean> {
  const idle = session.store
    .workers(session.sessionId)
    .filter(({ role, state }) => role === 'worker' && state === 'idle')
    .filter((worker) => lastRun(session.store, worker)?.state === 'succeeded')
    .toSorted((one, other) => one.updated_at.localeCompare(other.updated_at));
  for (const worker of idle) {
    if (!(await holdsNothing(session, worker))) continue;
    const reason = 'room was needed';
    if (!live.engine.retire(worker.worker_id, reason)) continue;
    await live.engine.end(worker, { graceMs: GRACE_MS, reason });
    return true;
  }
  return false;
}

/** Nothing of its work is only in its worktree. */
async function holdsNothing(session: SessionContext, worker: WorkerRow): Promise<boolean> {
  const status = await session.git.status(worker.worktree, worker.base_commit).catch(() => null);
  return status !== null && status.changedFiles.length === 0 && isIntegrated(worker, status);
}
