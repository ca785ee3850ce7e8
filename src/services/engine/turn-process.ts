import type { BackendEvent } from '../../backends/contract.js';
import { exitWords, isSignal } from '../../core/exit-status.js';
import type { AttemptRow, RunRow, WorkerRow } from '../../core/state/rows.js';
import { EXITED_WITHOUT_REPORT, isLiveWorker, isTerminalRun } from '../../core/state/states.js';
import type { Transaction } from '../../store/contract.js';
import { fact, type EngineDeps, type FactSubject } from './deps.js';
import { afterFailure, threadError, type Failure } from './failed-attempt.js';
import { isPending } from './instruct.js';
import { settleByReport } from './outcomes.js';
import type { WorkerActor } from './worker-actor.js';
import { WorkerRecord } from './worker-record.js';

type TurnOver = Extract<BackendEvent, { type: 'turn_over' }>;

/** Those of the workers that are followed. */
export interface Actors {
  get(workerId: string): WorkerActor | undefined;
  /** Its agent is over. */
  leave(workerId: string): void;
  /** Something may be due for it. */
  pump(workerId: string): void;
}

/** The processes of workers whose agent is one per turn: how they end, and how those of an earlier supervisor go on. */
export class TurnProcesses {
  readonly #deps: EngineDeps;
  readonly #leaving = new Set<string>();
  readonly #actors: Actors;

  constructor(deps: EngineDeps, actors: Actors) {
    this.#deps = deps;
    this.#actors = actors;
  }

  over(event: TurnOver): void {
    const { store, sessionId, slots } = this.#deps;
    const { workerId } = event;
    const attempt = this.#attempt(event.attemptId);
    const worker = store.worker(sessionId, workerId);
    if (attempt === undefined || attempt.state === 'ended' || worker === null) return;
    const actor = this.#actors.get(workerId);
    const completed = actor?.onTurnOver(event.attemptId) === true;
    slots.give(attempt.run_id);
    if (completed) {
      this.#recordEnd(worker, attempt, event);
      const isLeft = store.worker(sessionId, workerId)?.state === 'working' && !this.#leaving.has(workerId);
      if (isLeft) new WorkerRecord(this.#deps, workerId).idle('process');
    } else {
      actor?.breakOff();
      const has = store.transaction((tx) => this.#brokenOff(tx, worker, attempt, event));
      if (has === 'exited') {
        this.#actors.leave(workerId);
        this.#deps.onEnded(workerId, { kind: 'exited', status: event.status });
      }
    }
    this.#actors.pump(workerId);
  }

  /** Takes over the process of the turn that an earlier supervisor began, if there is one. */
  async adopt(worker: WorkerRow, actor: WorkerActor): Promise<void> {
    const { store, sessionId, backend, slots } = this.#deps;
    const make = this.#deps.turn(worker);
    const attempt = store
      .attempts(sessionId)
      .findLast(
        ({ worker_id: of, state }) => of === worker.worker_id && state !== 'ended' && state !== 'lost',
      );
    if (attempt === undefined || make === null) return;
    actor.onTurnAdopted(attempt.attempt_id);
    const adopted = await backend.adoptTurn(await make(attempt.attempt_id));
    const subject = this.#subject(worker, attempt);
    const { attempt_id } = attempt;
    if (adopted === null && attempt.state !== 'starting') {
      // It ran, and its files are gone with it.
      const { worker_id: workerId, attempt_id: attemptId } = attempt;
      this.over({ type: 'turn_over', workerId, attemptId, status: null, outputTail: '' });
      return;
    }
    if (adopted === null) {
      const reason = 'the supervisor ended before the process began';
      store.append(fact('run.attempt_failed', subject, { attempt_id, reason, counts: false }));
      return;
    }
    slots.hold(attempt.run_id);
    if (attempt.state === 'starting') {
      const { started } = adopted;
      const place = { pane_id: started.paneId, window: started.window };
      const process = { pid: started.pid, pid_started_at: started.pidStartedAt };
      store.append(fact('worker.started', subject, { attempt_id, ...place, ...process }));
    }
    // It began with its text on its standard input.
    store.append(
      ...store
        .messages(sessionId, worker.worker_id)
        .filter((message) => message.run_id === attempt.run_id && isPending(message))
        .slice(0, 1)
        .map(({ message_id, text }) =>
          fact('message.typed', subject, { message_id, bytes: Buffer.byteLength(text) }),
        ),
    );
    adopted.follow();
  }

  /** It is being ended altogether: the end of its turn does not make it idle. */
  leaving(workerId: string): void {
    this.#leaving.add(workerId);
  }

  /** Nothing of it is left, and its next turn is not wanted. false: it is no such worker, or over already. */
  dismiss(workerId: string, reason: string): boolean {
    const { store, sessionId } = this.#deps;
    this.#leaving.delete(workerId);
    const worker = store.worker(sessionId, workerId);
    if (worker === null || this.#deps.turn(worker) === null || !isLiveWorker(worker.state)) return false;
    store.append(
      fact('worker.exited', this.#subject(worker, null), {
        ...{ attempt_id: worker.attempt_id ?? '', status: null, reason, output_tail: '' },
      }),
    );
    return true;
  }

  #recordEnd(worker: WorkerRow, attempt: AttemptRow, { status }: TurnOver): void {
    const { attempt_id } = attempt;
    this.#deps.store.append(
      fact('run.attempt_ended', this.#subject(worker, attempt), { attempt_id, status }),
    );
  }

  /** Its process ended without having said how its turn did. */
  #brokenOff(
    tx: Transaction,
    worker: WorkerRow,
    attempt: AttemptRow,
    event: TurnOver,
  ): 'goes on' | 'over' | 'exited' {
    const run = tx.run(attempt.run_id);
    if (run === null) return 'over';
    if (!isTerminalRun(run.state)) settleByReport(this.#deps, tx, worker, run);
    const wasOver = isTerminalRun(tx.run(run.run_id)?.state ?? 'failed');
    if (!wasOver && afterFailure(this.#deps, tx, worker, run, this.#failureOf(worker, run, event)))
      return 'goes on';
    const subject = this.#subject(worker, attempt);
    const { attempt_id } = attempt;
    if (wasOver || run.cancel_requested_at !== null) {
      tx.append(fact('run.attempt_ended', subject, { attempt_id, status: event.status }));
      if (this.#leaving.has(worker.worker_id)) return 'over';
      new WorkerRecord(this.#deps, worker.worker_id).idle('process');
      return 'over';
    }
    const ended = { status: event.status, reason: 'its process ended', output_tail: event.outputTail };
    tx.append(fact('worker.exited', subject, { attempt_id, ...ended }));
    return 'exited';
  }

  #failureOf(worker: WorkerRow, run: RunRow, event: TurnOver): Failure {
    const errors = this.#deps.launch(worker)?.resumeErrors;
    // A line of its protocol is not for people.
    const words = event.outputTail.trim().split('\n');
    const last = words.findLast((line) => !line.startsWith('{'))?.trim() ?? '';
    const actor = this.#actors.get(worker.worker_id);
    return {
      attemptId: event.attemptId,
      reason: last === '' ? exitWords(event.status) : last,
      evidence: 'process',
      code: EXITED_WITHOUT_REPORT,
      thread: threadError(errors, worker, event.outputTail),
      hasSaid: actor?.hasSaid(event.attemptId) === true,
      isBrokenOff: this.#wentAway(worker, event.status) && actor?.isAgain(event.attemptId) === true,
    };
  }

  /** Nobody knows how it ended, or whoever ended our supervisor may have ended it as well. */
  #wentAway(worker: WorkerRow, status: number | null): boolean {
    return status === null || (this.#deps.endsLost?.(worker) === true && isSignal(status));
  }

  #attempt(attemptId: string): AttemptRow | undefined {
    return this.#deps.store.attempts(this.#deps.sessionId).find(({ attempt_id: id }) => id === attemptId);
  }

  #subject(worker: WorkerRow, attempt: AttemptRow | null): FactSubject {
    return {
      ...{ session_id: this.#deps.sessionId, worker_id: worker.worker_id },
      ...(attempt === null ? {} : { run_id: attempt.run_id }),
      ...{ source: 'headless', evidence: 'process' },
    };
  }
}
