import type { RunRow } from '../../core/state/rows.js';
import type { WaitingKind } from '../../core/state/states.js';
import { openRun, type EngineDeps } from './deps.js';
import { hasUndelivered } from './next-delivery.js';
import { pendingNotices } from './notices.js';

const NUDGES = 2;
/** Only a person can let it through; what it leads to then will wake the lead. */
const FOR_PERSON: readonly (WaitingKind | null)[] = ['permission', 'trust', 'login', 'quota'];
const isForPerson = ({ waiting_kind: kind }: RunRow) => FOR_PERSON.includes(kind);

/**
 * What the end of a lead's turn means. `rest`: it is over, or something will wake the lead (a worker that is at it or
 * waits for the person, news, a message on its way).
 * `nudge`: nothing will, so it is asked to go on, twice at most; then it is `stuck` and a person must look.
 */
export function leadTurnVerdict(deps: EngineDeps, run: RunRow | null): 'rest' | 'nudge' | 'stuck' {
  const { store, sessionId } = deps;
  const session = store.session(sessionId);
  if (session?.verdict !== null || session.state !== 'active' || run === null) return 'rest';
  const busy = store.workers(sessionId).some((worker) => {
    const open = worker.role === 'worker' ? openRun(store, sessionId, worker.worker_id) : null;
    return open !== null && (open.state !== 'waiting' || isForPerson(open));
  });
  if (busy || hasUndelivered(deps, run) || pendingNotices(store, sessionId).length > 0) return 'rest';
  return run.nudges < NUDGES ? 'nudge' : 'stuck';
}

/**
 * What the end of a worker's turn means. `settle`: it reported. `question`: it waits for an answer. `nudge`: it said
 * nothing, ask once. `silent`: it was asked and still said nothing. `rest`: no run is open, or the next message is due
 * anyway (an answer that came while the turn was still open). `cancelled`: somebody asked for its end.
 */
export function workerTurnVerdict(
  deps: EngineDeps,
  run: RunRow | null,
): 'rest' | 'settle' | 'question' | 'nudge' | 'silent' | 'cancelled' {
  if (run !== null && run.cancel_requested_at !== null && run.state !== 'queued') return 'cancelled';
  if (run?.state === 'waiting' && run.waiting_kind === 'question') return 'question';
  if (run?.state !== 'running') return 'rest';
  if (run.reported.length > 0) return 'settle';
  if (hasUndelivered(deps, run)) return 'rest';
  return run.nudges > 0 ? 'silent' : 'nudge';
}
