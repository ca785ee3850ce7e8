import { isLiveWorker } from '../../core/state/states.js';
import { fact } from '../engine/deps.js';
import { openRun } from '../engine/deps.js';
import { takeNotices } from '../engine/notices.js';
import { requireLive, type SessionContext } from '../session-context.js';
import { findWorker } from './wait-for-workers.js';

const GRACE_MS = 2_000;

/**
 * Ends a worker's agent and everything it started, verified before it answers. Its worktree and branch stay as they
 * are. Killing a worker that is over already is fine.
 */
export async function killWorker(
  session: SessionContext,
  workerId: string,
  options: { by: string; reason: string },
): Promise<{ killed: boolean; survivors: readonly number[] }> {
  const live = requireLive(session);
  const worker = findWorker(session, workerId);
  await live.launching.get(workerId)?.catch(() => undefined);
  if (!isLiveWorker(findWorker(session, workerId).state)) return { killed: true, survivors: [] };
  const run = openRun(session.store, session.sessionId, workerId);
  if (run !== null)
    session.store.append(
      fact(
        'run.cancel_requested',
        {
          session_id: session.sessionId,
          worker_id: workerId,
          run_id: run.run_id,
          source: 'mcp',
          evidence: 'protocol',
        },
        { by: options.by, reason: options.reason },
      ),
    );
  const stopped = await live.backend.stop(workerId, { graceMs: GRACE_MS });
  live.engine.endOpenRuns(worker, { type: 'run.cancelled', summary: options.reason, evidence: 'process' });
  if (options.by === 'lead')
    takeNotices(
      session.store,
      session.sessionId,
      'answer of kill_worker',
      (notice) => notice.about === workerId,
    );
  return { killed: stopped.verified, survivors: stopped.survivors };
}
