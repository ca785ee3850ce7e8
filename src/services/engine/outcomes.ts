import type { NewEvent } from '../../core/events/index.js';
import type { ReportedOutcome, RunRow, WorkerRow } from '../../core/state/rows.js';
import {
  evidenceRank,
  EXITED_WITHOUT_REPORT,
  isTerminalRun,
  type Evidence,
} from '../../core/state/states.js';
import type { Transaction } from '../../store/contract.js';
import { fact, type EngineDeps } from './deps.js';
import { undelivered } from './instruct.js';
import { noticesFor } from './notices.js';

const WITHOUT_REPORT = 'NO_REPORT';

type Deps = Pick<EngineDeps, 'sessionId' | 'newId'>;

/** Strongest evidence first, then latest. */
export function bestCandidate(reported: readonly ReportedOutcome[]): ReportedOutcome | null {
  return reported.reduce<ReportedOutcome | null>(
    (best, next) =>
      best === null || evidenceRank(next.evidence) <= evidenceRank(best.evidence) ? next : best,
    null,
  );
}

export interface Ending {
  readonly type:
    'run.succeeded' | 'run.blocked' | 'run.failed' | 'run.timed_out' | 'run.cancelled' | 'run.interrupted';
  readonly summary: string;
  readonly evidence: Evidence;
  readonly failureCode?: string;
}

/**
 * Ends a run if it is still open (compare-and-set: false when it was over already). The lead's notice is written in
 * the same transaction, so it cannot be lost between the two.
 */
export function endRun(
  deps: Deps,
  tx: Transaction,
  worker: WorkerRow,
  runId: string,
  ending: Ending,
): boolean {
  const run = tx.run(runId);
  if (run === null || isTerminalRun(run.state)) return false;
  const subject = {
    session_id: deps.sessionId,
    worker_id: worker.worker_id,
    run_id: runId,
    source: 'supervisor' as const,
    evidence: ending.evidence,
  };
  const effective = run.cancel_requested_at === null ? ending : asCancelled(tx, run, ending);
  const events: NewEvent[] = [
    effective.type === 'run.failed'
      ? fact('run.failed', subject, {
          summary: effective.summary,
          failure_code: effective.failureCode ?? null,
        })
      : fact(effective.type, subject, { summary: effective.summary }),
  ];
  // Nobody will deliver it any more.
  if (effective.type !== 'run.succeeded')
    events.push(
      ...undelivered(tx.messages(deps.sessionId, worker.worker_id))
        .filter((message) => message.run_id === runId)
        .map(({ message_id }) => fact('message.refused', subject, { message_id, reason: effective.summary })),
    );
  if (worker.role === 'worker')
    events.push(
      ...noticesFor(deps, tx, {
        about: worker.worker_id,
        text: endingNotice(worker, effective),
        evidence: ending.evidence,
      }),
    );
  tx.append(...events);
  return true;
}

/** Once a cancel was asked for, whatever is reported later settles as cancelled; an interruption stays one. */
function asCancelled(tx: Transaction, run: RunRow, ending: Ending): Ending {
  if (ending.type === 'run.interrupted') return ending;
  // How the process of one that was killed ended says less than who wanted that.
  const isKilled = ending.failureCode === EXITED_WITHOUT_REPORT;
  return { ...ending, type: 'run.cancelled', summary: isKilled ? whoCancelled(tx, run) : ending.summary };
}

function whoCancelled(tx: Transaction, { session_id: sessionId, run_id: runId }: RunRow): string {
  const [event] = tx.events({ after: 0, sessionId, runId, types: ['run.cancel_requested'], limit: 1 });
  if (event === undefined) return 'cancelled';
  const { by, reason } = event.data;
  return `cancelled by ${by}${reason === '' ? '' : `: ${reason}`}`;
}

const FAILURES: Readonly<Record<string, string>> = {
  [EXITED_WITHOUT_REPORT]: 'exited without a report',
  [WITHOUT_REPORT]: 'ended its turn without a report',
};

function endingNotice(worker: WorkerRow, ending: Ending): string {
  const what: Record<Ending['type'], string> = {
    'run.succeeded': 'reports done',
    'run.blocked': 'is blocked',
    'run.failed': FAILURES[ending.failureCode ?? ''] ?? 'reports failure',
    'run.timed_out': 'ran out of time',
    'run.cancelled': 'was cancelled',
    'run.interrupted': 'was interrupted',
  };
  const name = `${worker.worker_id} (${worker.perspective})`;
  return `${name} ${what[ending.type]}${ending.summary === '' ? '' : `: ${ending.summary}`}`;
}

/** Ends a run whose turn ended without a report if another is queued behind it; false: nothing is, it may be continued. */
export function endUnreported(
  deps: Deps,
  tx: Transaction,
  worker: WorkerRow,
  run: RunRow,
  what: { text: string; evidence: Evidence },
): boolean {
  if (!tx.runs(deps.sessionId, worker.worker_id).some(({ state }) => state === 'queued')) return false;
  const { text: summary, evidence } = what;
  return endRun(deps, tx, worker, run.run_id, {
    ...{ type: 'run.failed', summary, evidence },
    failureCode: WITHOUT_REPORT,
  });
}

export function endingOfCandidate(candidate: ReportedOutcome): Ending {
  return {
    type: `run.${candidate.state}`,
    summary: candidate.summary,
    evidence: candidate.evidence,
    ...(candidate.state === 'failed' ? { failureCode: 'REPORTED' } : {}),
  };
}

/** Settles an open run by what was reported; false when nothing was, or it is over. What was still to say to it is moot. */
export function settleByReport(deps: Deps, tx: Transaction, worker: WorkerRow, run: RunRow): boolean {
  const candidate = bestCandidate(tx.run(run.run_id)?.reported ?? []);
  if (candidate === null || !endRun(deps, tx, worker, run.run_id, endingOfCandidate(candidate))) return false;
  const subject = { session_id: deps.sessionId, worker_id: worker.worker_id, run_id: run.run_id };
  const late = undelivered(tx.messages(deps.sessionId, worker.worker_id)).filter(
    (message) => message.run_id === run.run_id,
  );
  tx.append(
    ...late.map(({ message_id }) =>
      fact(
        'message.refused',
        { ...subject, source: 'supervisor', evidence: candidate.evidence },
        { message_id, reason: 'its run was over before it could be delivered' },
      ),
    ),
  );
  return true;
}
