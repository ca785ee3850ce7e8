import type { RunRow } from '../../core/state/rows.js';
import { openRun, type EngineDeps } from './deps.js';
import { pendingNotices } from './notices.js';

const NUDGES = 2;

/**
 * What the end of a lead's turn means. `rest`: it is over, or something will wake the lead (a worker at it, news).
 * `nudge`: nothing will, so it is asked to go on, twice at most; then it is `stuck` and a person must look.
 */
export function leadTurnVerdict(deps: EngineDeps, run: RunRow | null): 'rest' | 'nudge' | 'stuck' {
  const { store, sessionId } = deps;
  const session = store.session(sessionId);
  if (session?.verdict !== null || session.state !== 'active' || run === null) return 'rest';
  const busy = store.workers(sessionId).some((worker) => {
    const open = worker.role === 'worker' ? openRun(store, sessionId, worker.worker_id) : null;
    return open !== null && open.state !== 'waiting';
  });
  if (busy || pendingNotices(store, sessionId).length > 0) return 'rest';
  return run.nudges < NUDGES ? 'nudge' : 'stuck';
}
