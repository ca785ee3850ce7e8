import { isLiveWorker, isTerminalRun } from '../../core/state/states.js';
import { fact } from '../engine/deps.js';
import { takeNotices } from '../engine/notices.js';
import { findWorker, requireLive, type SessionContext } from '../session-context.js';

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
  const subject = {
    session_id: session.sessionId,
    worker_id: workerId,
    source: 'mcp',
    evidence: 'protocol',
  } as const;
  // Of every open run: one that waits its turn has not failed when the process ends, it was cancelled as well.
  const open = session.store
    .runs(session.sessionId, workerId)
    .filter((run) => !isTerminalRun(run.state))
    .map(({ run_id }) =>
      fact('run.cancel_requested', { ...subject, run_id }, { by: options.by, reason: options.reason }),
    );
  session.store.append(...open);
  const { reason } = options;
  const ending = { type: 'run.cancelled', summary: reason, evidence: 'process' } as const;
  const stopped = await live.engine.end(worker, { graceMs: GRACE_MS, reason, ending });
  if (options.by === 'lead')
    takeNotices(
      session.store,
      session.sessionId,
      'answer of kill_worker',
      (notice) => notice.about === workerId,
    );
  return { killed: stopped.verified, survivors: stopped.survivors };
}
