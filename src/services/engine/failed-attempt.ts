import type { Launch } from '../../agents/contract.js';
import { isTerminalRun, type Evidence, type WaitingKind } from '../../core/state/states.js';
import type { RunRow, WorkerRow } from '../../core/state/rows.js';
import type { Transaction } from '../../store/contract.js';
import { goOnText } from '../context/engine-texts.js';
import { fact, type EngineDeps, type FactSubject } from './deps.js';
import { fallBack } from './fall-back.js';
import { askNext } from './next-agent.js';
import { endRun } from './outcomes.js';

export interface Failure {
  readonly attemptId: string;
  readonly reason: string;
  readonly evidence: Evidence;
  readonly code: string;
  /** What only a person can mend. */
  readonly kind?: WaitingKind | undefined;
  /** The agent cannot go on with its conversation: `unknown` begins a new one, `in_use` must not. */
  readonly thread: 'unknown' | 'in_use' | null;
  /** It has said or done something in this attempt, or may have. */
  readonly hasSaid: boolean;
  /** It went with the supervisor that began it (the machine was switched off), and nothing is known against it. */
  readonly isBrokenOff?: boolean;
}

/** What an agent's last words say of the conversation that it was to go on with. */
export function threadError(
  errors: Launch['resumeErrors'] | undefined,
  worker: WorkerRow,
  words: string,
): Failure['thread'] {
  if (errors === undefined || errors === null || worker.thread_id === null) return null;
  if (errors.unknown?.test(words) === true) return 'unknown';
  return errors.inUse?.test(words) === true ? 'in_use' : null;
}

/** Why a run failed that could not have the conversation to itself. */
export const THREAD_IN_USE = 'THREAD_IN_USE';
/** Of a run whose turn failed, as its agent said. */
export const TURN_FAILED = 'TURN_FAILED';

const LOST_WORDS = 'its process ended while nobody watched it; another message goes on in its conversation';

/**
 * What follows when a turn failed or its process ended before its time: another attempt where one is due, else the end of
 * the run. Another one goes on in the agent's conversation; a conversation that is not known any more is begun anew,
 * once. true: the run goes on.
 */
export function afterFailure(
  deps: EngineDeps,
  tx: Transaction,
  worker: WorkerRow,
  run: RunRow,
  failure: Failure,
): boolean {
  if (isTerminalRun(run.state)) return false;
  const subject: FactSubject = {
    ...{ session_id: deps.sessionId, worker_id: worker.worker_id, run_id: run.run_id },
    ...{ source: 'supervisor', evidence: failure.evidence },
  };
  const startsAnew = failure.thread === 'unknown' && worker.thread_id !== null;
  const isLost = failure.isBrokenOff === true;
  const isEnded = isLost && deps.endsLost?.(worker) === true;
  const isFree = startsAnew || (isLost && !isEnded);
  const isDue = isFree || (failure.thread === null && run.failed_attempts < run.retries);
  if (!isDue || run.cancel_requested_at !== null) {
    if (isEnded && run.cancel_requested_at === null) {
      const { evidence } = failure;
      endRun(deps, tx, worker, run.run_id, { type: 'run.interrupted', summary: LOST_WORDS, evidence });
      return false;
    }
    if (askNext(deps, tx, worker, { run, failure })) return true;
    const code = failure.thread === 'in_use' ? THREAD_IN_USE : failure.code;
    const ending = { summary: failure.reason, evidence: failure.evidence, failureCode: code };
    if (fallBack(deps, tx, worker, { run, ending, hasSaid: failure.hasSaid })) return false;
    endRun(deps, tx, worker, run.run_id, { type: 'run.failed', ...ending });
    return false;
  }
  const { attemptId: attempt_id, reason } = failure;
  if (startsAnew && worker.thread_id !== null)
    tx.append(fact('thread.lost', subject, { thread_id: worker.thread_id, reason }));
  // To begin anew uses up no retry: the agent never had the text.
  tx.append(fact('run.attempt_failed', subject, { attempt_id, reason, counts: !isFree }));
  redeliver(deps, tx, { worker, run, subject, reason, startsAnew });
  return true;
}

/** What the agent has in its conversation is not said again. */
function redeliver(
  deps: EngineDeps,
  tx: Transaction,
  again: { worker: WorkerRow; run: RunRow; subject: FactSubject; reason: string; startsAnew: boolean },
): void {
  const { worker, run, subject, reason, startsAnew } = again;
  const open = tx
    .messages(deps.sessionId, worker.worker_id)
    .filter(
      (message) =>
        message.run_id === run.run_id && ['typed', 'submitted', 'started', 'refused'].includes(message.state),
    );
  const isKnown = !startsAnew && worker.thread_id !== null && open.some(({ state }) => state === 'started');
  if (!isKnown)
    return void tx.append(...open.map(({ message_id }) => fact('message.queued', subject, { message_id })));
  const nudge = { kind: 'nudge', sender: 'agentorchestr', text: goOnText(reason), about: null } as const;
  const answered = open.map(({ message_id }) => fact('message.answered', subject, { message_id }));
  tx.append(...answered, fact('message.accepted', subject, { message_id: deps.newId(), ...nudge }));
}
