import type { BackendEvent } from '../../backends/contract.js';
import { exitWords, isSignal } from '../../core/exit-status.js';
import type { AttemptRow, WorkerRow } from '../../core/state/rows.js';
import { EXITED_WITHOUT_REPORT, isTerminalRun, type Evidence } from '../../core/state/states.js';
import type { Transaction } from '../../store/contract.js';
import { fact, openRun, type EngineDeps, type FactSubject } from './deps.js';
import { afterFailure, threadError } from './failed-attempt.js';
import { undelivered } from './instruct.js';
import { endRun, settleByReport, type Ending } from './outcomes.js';

/** What it takes to settle what an end leaves, engine or not. */
type Settling = Pick<EngineDeps, 'store' | 'sessionId' | 'newId'>;
export type Exited = Extract<BackendEvent, { type: 'exited' }>;

/** The process of an agent that stays has ended. true: what was asked of it stays open, and another process is due. */
export function recordExit(deps: EngineDeps, worker: WorkerRow, event: Exited): boolean {
  return deps.store.transaction((tx) => {
    const run = openRun(tx, deps.sessionId, worker.worker_id);
    // What came for a retired one while it went, or was to be said to one that was of no use, has reached nobody yet.
    const isGivenUp = attemptOf(tx, deps, event.attemptId)?.state === 'ended';
    const isUntouched = (worker.retired || isGivenUp) && run?.state !== 'running';
    const staysOpen = isUntouched || isAnotherDue(deps, tx, worker, event);
    if (!staysOpen) endOpenRuns(deps, tx, worker, { type: 'run.failed', ...exitOf(event) });
    const { attemptId: attempt_id, status, outputTail: output_tail } = event;
    const ended = { attempt_id, status, reason: 'its process ended', output_tail };
    tx.append(fact('worker.exited', subjectOf(deps, worker, 'process'), ended));
    return staysOpen;
  });
}

interface Useless {
  readonly workerId: string;
  readonly attemptId: string;
  readonly reason: string;
}

/**
 * Ends a process that is of no use before anything was said to it: what was to be said reaches another one. Once for a
 * run; false: nothing was done.
 */
export async function startAnew(deps: EngineDeps, useless: Useless): Promise<boolean> {
  const isGivenUp = deps.store.transaction((tx) => giveUpAttempt(deps, tx, useless));
  if (isGivenUp) await deps.backend.stop(useless.workerId, { graceMs: 2_000 });
  return isGivenUp;
}

/** The run waits for another process; not where somebody said something to this one. false: nothing was changed. */
function giveUpAttempt(deps: EngineDeps, tx: Transaction, { workerId, attemptId, reason }: Useless): boolean {
  const worker = tx.worker(deps.sessionId, workerId);
  const run = openRun(tx, deps.sessionId, workerId);
  const isCurrent =
    worker?.attempt_id === attemptId && attemptOf(tx, deps, attemptId)?.run_id === run?.run_id;
  if (worker === null || run?.attempts !== 1 || !isCurrent || worker.state === 'working') return false;
  const about = { ...subjectOf(deps, worker, 'process'), run_id: run.run_id };
  tx.append(fact('run.attempt_failed', about, { attempt_id: attemptId, reason, counts: false }));
  return true;
}

/** It cannot be reached any more, and no exit was seen. */
export function recordLost(deps: Settling, worker: WorkerRow, reason: string): void {
  deps.store.transaction((tx) => {
    settleReported(deps, tx, worker);
    endOpenRuns(deps, tx, worker, { type: 'run.interrupted', summary: reason, evidence: 'process' });
    tx.append(fact('worker.lost', subjectOf(deps, worker, 'process'), { reason }));
  });
}

/** Ends every run that is not over, with what was on its way to it. */
export function endOpenRuns(deps: Settling, tx: Transaction, worker: WorkerRow, ending: Ending): void {
  const { sessionId } = deps;
  for (const run of tx.runs(sessionId, worker.worker_id)) endRun(deps, tx, worker, run.run_id, ending);
  const messages = tx.messages(sessionId, worker.worker_id);
  const subject = subjectOf(deps, worker, ending.evidence);
  tx.append(
    ...undelivered(messages).map(({ message_id }) =>
      fact('message.refused', subject, { message_id, reason: ending.summary }),
    ),
    // It is in a composer that goes away; should it have been taken, the delivery under way says so yet.
    ...messages
      .filter((message) => message.state === 'typed')
      .map(({ message_id }) => fact('message.unconfirmed', subject, { message_id, screen: ending.summary })),
  );
}

/** Another process goes on with the run. */
function isAnotherDue(deps: EngineDeps, tx: Transaction, worker: WorkerRow, event: Exited): boolean {
  settleReported(deps, tx, worker);
  const run = openRun(tx, deps.sessionId, worker.worker_id);
  if (run === null) return false;
  const { summary: reason, failureCode: code, evidence } = exitOf(event);
  // What it says after it came up is about something else.
  const isComingUp = worker.state === 'starting';
  const errors = isComingUp ? deps.launch(worker)?.resumeErrors : undefined;
  return afterFailure(deps, tx, worker, run, {
    ...{ attemptId: event.attemptId, reason, evidence, code },
    thread: threadError(errors, worker, event.outputTail),
    hasSaid: !isComingUp,
  });
}

/** What it reported before it went stands. */
function settleReported(deps: Settling, tx: Transaction, worker: WorkerRow): void {
  const open = tx.runs(deps.sessionId, worker.worker_id).find((run) => !isTerminalRun(run.state));
  if (open !== undefined) settleByReport(deps, tx, worker, open);
}

function attemptOf(tx: Transaction, { sessionId }: EngineDeps, attemptId: string): AttemptRow | undefined {
  return tx.attempts(sessionId).find(({ attempt_id: id }) => id === attemptId);
}

function exitOf({ outputTail, status }: Exited): Omit<Ending, 'type'> & { failureCode: string } {
  // The screen of one that was killed says what it was at, and nothing of why it ended.
  const words = isSignal(status) ? null : lastWords(outputTail);
  return { summary: words ?? exitWords(status), evidence: 'process', failureCode: EXITED_WITHOUT_REPORT };
}

/** The last line that says it is an error, which some print in front of how they are used; else the last one. */
function lastWords(text: string): string | null {
  const lines = text
    .trim()
    .split('\n')
    .map((line) => line.trim());
  const error = lines.findLast((line) => /^(error|fatal)\b/i.test(line));
  return error ?? (lines.at(-1) || null);
}

function subjectOf({ sessionId }: Settling, worker: WorkerRow, evidence: Evidence): FactSubject {
  return {
    ...{ session_id: sessionId, worker_id: worker.worker_id },
    ...{ source: 'supervisor', evidence },
  };
}
