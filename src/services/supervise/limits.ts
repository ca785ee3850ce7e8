import { OrchestratorError } from '../../core/errors/error.js';
import { isLiveWorker } from '../../core/state/states.js';
import type { Transaction } from '../../store/contract.js';
import { fact } from '../engine/deps.js';
import type { LiveSession, SessionContext } from '../session-context.js';

const MINUTE_MS = 60_000;
const LIVE = 'live workers';

/** Limits live in code and in the store, not in the prompt: they hold across restarts. Throws LIMIT_REACHED with the reason. */
export function checkSpawnLimits(session: SessionContext, live: LiveSession, tx: Transaction): void {
  const { limits } = live.plan;
  const workers = tx.workers(session.sessionId).filter((worker) => worker.role === 'worker');
  const since = new Date(session.clock.now() - MINUTE_MS).toISOString();
  const recent = workers.filter((worker) => worker.created_at > since).length;
  checkLiveLimit(session, live, tx);
  refuse(
    'workers of one session',
    workers.length,
    limits.total_workers,
    'the session has used its workers up: send new tasks to the ones that live',
  );
  refuse('spawns per minute', recent, limits.spawns_per_minute, 'wait a minute before the next spawn');
}

/** One more may come to life. Throws LIMIT_REACHED. */
export function checkLiveLimit(session: SessionContext, live: LiveSession, tx: Transaction): void {
  const workers = tx.workers(session.sessionId).filter((worker) => worker.role === 'worker');
  const alive = workers.filter((worker) => isLiveWorker(worker.state)).length;
  refuse(LIVE, alive, live.plan.limits.max_workers);
}

export function isLiveLimit(error: unknown): boolean {
  return (
    error instanceof OrchestratorError && error.code === 'LIMIT_REACHED' && error.params['limit'] === LIVE
  );
}

export interface RunLimits {
  readonly timeout_ms?: number;
  readonly retries?: number;
}

/** What a run may take: as its caller says, but never longer than the session's own limit. */
export function runLimits(
  { limits }: LiveSession['plan'],
  wanted: { readonly timeout_s?: number | undefined; readonly retries?: number | undefined },
): RunLimits {
  const given = [wanted.timeout_s ?? null, limits.run_timeout_s].filter((seconds) => seconds !== null);
  return {
    ...(given.length === 0 ? {} : { timeout_ms: Math.min(...given) * 1_000 }),
    ...(wanted.retries === undefined ? {} : { retries: wanted.retries }),
  };
}

function refuse(limit: string, value: number, max: number, hint?: string): void {
  if (value >= max) throw new OrchestratorError('LIMIT_REACHED', { limit, value, max, hint });
}

/** The refusal as an event; apart, because the refused spawn's own transaction is rolled back. */
export function recordLimit(session: SessionContext, error: OrchestratorError): void {
  session.store.append(
    fact(
      'limit.reached',
      { session_id: session.sessionId, source: 'supervisor', evidence: 'protocol' },
      {
        limit: String(error.params['limit']),
        value: Number(error.params['value']),
        max: Number(error.params['max']),
        what: 'spawn_worker',
      },
    ),
  );
}
