import type { EventSource, NewEvent } from '../../core/events/index.js';
import type { MessageRow, RunRow, WorkerRow } from '../../core/state/rows.js';
import {
  isLiveWorker,
  isPerTurn,
  isTerminalRun,
  type Choice,
  type Evidence,
  type WaitingKind,
} from '../../core/state/states.js';
import { fact, openRun, type EngineDeps, type FactSubject } from './deps.js';
import { afterFailure, TURN_FAILED, type Failure } from './failed-attempt.js';
import { fallBack } from './fall-back.js';
import { askNext } from './next-agent.js';
import { noticesFor } from './notices.js';
import { endRun, endUnreported } from './outcomes.js';

/** Of a prompt, in a notice to the lead. */
const LINES_TOLD = 5;

/** A prompt that can be answered from elsewhere. */
export interface Prompt {
  readonly choices: readonly Choice[];
  readonly promptHash: string;
}

export interface FailedTurn extends Pick<Failure, 'reason' | 'evidence' | 'hasSaid'> {
  /** What only a person can mend. */
  readonly kind?: WaitingKind | undefined;
  /** Of an error of ours that kept its process from being made. */
  readonly code?: string;
  readonly thread?: Failure['thread'];
}

/** One worker's rows: reads them and appends what changes its state. Every method is one transaction. */
export class WorkerRecord {
  readonly workerId: string;
  readonly #deps: EngineDeps;

  constructor(deps: EngineDeps, workerId: string) {
    this.#deps = deps;
    this.workerId = workerId;
  }

  worker(): WorkerRow | null {
    return this.#deps.store.worker(this.#deps.sessionId, this.workerId);
  }

  get isPerTurn(): boolean {
    const worker = this.worker();
    return worker !== null && isPerTurn(worker);
  }

  openRun(): RunRow | null {
    return openRun(this.#deps.store, this.#deps.sessionId, this.workerId);
  }

  messages(): MessageRow[] {
    return this.#deps.store.messages(this.#deps.sessionId, this.workerId);
  }

  append(...events: NewEvent[]): void {
    if (events.length > 0) this.#deps.store.append(...events);
  }

  subject(runId: string | undefined, evidence: Evidence, source?: EventSource): FactSubject {
    return {
      session_id: this.#deps.sessionId,
      worker_id: this.workerId,
      source: source ?? (this.isPerTurn ? 'headless' : 'tmux'),
      evidence,
      ...(runId === undefined ? {} : { run_id: runId }),
    };
  }

  notices(what: string, evidence: Evidence): NewEvent[] {
    const text = `${this.workerId} (${this.worker()?.perspective ?? ''}) ${what}`;
    return noticesFor(this.#deps, this.#deps.store, { about: this.workerId, text, evidence });
  }

  /** The agent is in a turn; a run that waited at the agent's own gate goes on with it. */
  working(evidence: Evidence): void {
    const worker = this.worker();
    const run = this.openRun();
    const resumes = run?.state === 'waiting' && run.waiting_kind !== 'question';
    if (worker === null || !isLiveWorker(worker.state) || (worker.state === 'working' && !resumes)) return;
    const subject = this.subject(run === null || run.state === 'queued' ? undefined : run.run_id, evidence);
    if (worker.state === 'waiting' && worker.waiting_kind === 'permission')
      this.append(
        fact('permission.answered', subject, { answer: 'given at the agent', by: 'person' }),
        fact('worker.working', subject, {}),
      );
    else this.append(fact('worker.working', subject, {}));
  }

  /**
   * The agent needs somebody; the lead is told, and the run of a worker waits with it. The same prompt seen again, or
   * with less known of it, is no news; one whose answers are known now only says them.
   */
  waiting(kind: WaitingKind, text: string, evidence: Evidence, prompt: Prompt | null = null): void {
    const worker = this.worker();
    if (worker === null || !isLiveWorker(worker.state)) return;
    const known = worker.state === 'waiting' && worker.waiting_kind === kind ? worker : null;
    if (known !== null && (prompt === null || prompt.promptHash === known.waiting_hash)) return;
    const run = this.openRun();
    const subject = this.subject(run?.run_id, evidence);
    const waits = fact('worker.waiting', subject, {
      kind,
      text,
      via: evidence === 'screen' ? 'screen' : 'hook',
      ...(prompt === null ? {} : { choices: [...prompt.choices], prompt_hash: prompt.promptHash }),
    });
    if (known !== null && known.waiting_hash === null) return this.append(waits);
    const events: NewEvent[] = [waits];
    if (kind === 'permission') events.push(fact('permission.requested', subject, { text }));
    const atGate = run?.state === 'running' || (run?.state === 'waiting' && run.waiting_kind !== 'question');
    // A dialog of the agent is answered at the agent, even one that asks a question: no message continues the run.
    if (atGate && worker.role === 'worker')
      events.push(fact('run.waiting', subject, { kind: kind === 'question' ? 'dialog' : kind, text }));
    if (worker.role === 'worker')
      events.push(...this.notices(`waits (${kind}): ${firstLines(text)}`, evidence));
    this.append(...events);
  }

  /** Its turn is over, so nothing of the turn can be in front of it any more: the run is not kept waiting for that. */
  pastGate(evidence: Evidence): void {
    const worker = this.worker();
    if (worker?.state !== 'waiting') return;
    const { waiting_kind: kind, waiting_hash: hash } = worker;
    const isOfTurn = kind === 'permission' || ((kind === 'dialog' || kind === 'question') && hash !== null);
    if (isOfTurn) this.working(evidence);
  }

  /** We brought an answer to a dialog or request. `withinTurn`: the agent goes on with its turn by that. */
  gateAnswered(answer: string, by: string, evidence: Evidence, withinTurn: boolean): void {
    const run = this.openRun();
    const source = evidence === 'protocol' ? 'hook' : undefined;
    const subject = this.subject(run?.run_id, evidence, source);
    const events: NewEvent[] = [fact('permission.answered', subject, { answer, by })];
    if (withinTurn && this.worker()?.state === 'waiting') events.push(fact('worker.working', subject, {}));
    this.append(...events);
  }

  /** Its turn ended without a report: somebody has to look, unless the next instruction waits behind the run already. */
  unreported(text: string, evidence: Evidence): void {
    const worker = this.worker();
    const run = this.openRun();
    const isOver =
      worker !== null &&
      run !== null &&
      this.#deps.store.transaction((tx) => endUnreported(this.#deps, tx, worker, run, { text, evidence }));
    if (!isOver) this.waiting('report', text, evidence);
  }

  /** What was sent did not arrive: its run waits with it, whatever else the agent shows, and the lead is told each time. */
  undelivered(runId: string | undefined, text: string): void {
    const worker = this.worker();
    if (worker === null || !isLiveWorker(worker.state)) return;
    const run = runId === undefined ? null : this.#deps.store.run(runId);
    const waits = { kind: 'dialog', text } as const;
    const subject = this.subject(runId, 'screen');
    const events: NewEvent[] = [fact('worker.waiting', subject, { ...waits, via: 'screen' })];
    if (worker.role === 'worker') {
      if (run !== null && !isTerminalRun(run.state)) events.push(fact('run.waiting', subject, waits));
      events.push(...this.notices(`waits (dialog): ${firstLines(text)}`, 'screen'));
    }
    this.append(...events);
  }

  /**
   * The run waits for an answer; false when there is none that could. Asked again, because the answer of the call was
   * lost, it is the same question.
   */
  asked(question: string): boolean {
    const run = this.openRun();
    if (run === null || run.state === 'queued') return false;
    if (run.waiting_kind === 'question' && run.waiting_text === question) return true;
    const subject = this.subject(run.run_id, 'protocol');
    this.append(
      fact('question.asked', subject, { question }),
      fact('run.waiting', subject, { kind: 'question', text: question }),
      ...this.notices(`asks: ${question}`, 'protocol'),
    );
    return true;
  }

  /** The turn failed, and the run with it, unless another attempt is due or only a person can mend it. */
  failed(failed: FailedTurn): boolean {
    const { reason, evidence, kind, thread = null, hasSaid, code = TURN_FAILED } = failed;
    const worker = this.worker();
    const run = this.openRun();
    if (worker === null || run === null) return false;
    const isSettled = this.#deps.store.transaction((tx) => {
      const failure = {
        ...{ attemptId: run.attempt_id ?? '', reason, evidence, code },
        ...{ thread, hasSaid, kind },
      };
      if (kind !== undefined) {
        const ending = { summary: reason, evidence, failureCode: code };
        if (askNext(this.#deps, tx, worker, { run, failure })) return true;
        return fallBack(this.#deps, tx, worker, { run, ending, hasSaid });
      }
      afterFailure(this.#deps, tx, worker, run, failure);
      return true;
    });
    if (isSettled) this.idle(evidence);
    return isSettled;
  }

  /** Its turn is over after somebody asked for the end of the run. */
  cancelled({ run_id: runId }: RunRow): void {
    const worker = this.worker();
    const ending = { type: 'run.cancelled', summary: 'cancelled', evidence: 'protocol' } as const;
    if (worker !== null) this.#deps.store.transaction((tx) => endRun(this.#deps, tx, worker, runId, ending));
  }

  /** It is asked to report or to go on; `how`: the agent was told already, and how. */
  nudged({ run_id }: RunRow, text: string, how: string | null): void {
    const message_id = this.#deps.newId();
    const subject = this.subject(run_id, 'protocol');
    const nudge = { message_id, kind: 'nudge', sender: 'agentorchestr', text, about: null } as const;
    this.append(
      fact('message.accepted', subject, nudge),
      ...(how === null ? [] : [fact('message.submitted', subject, { message_id, how })]),
    );
  }

  /** Its turn is over; its question stays. */
  questionOpen(run: RunRow): void {
    const text = run.waiting_text ?? '';
    const waits = { kind: 'question', text, via: 'tool' } as const;
    this.append(fact('worker.waiting', this.subject(run.run_id, 'protocol'), waits));
  }

  idle(evidence: Evidence): void {
    const worker = this.worker();
    const atGate =
      worker?.state === 'waiting' && worker.waiting_kind !== 'question' && worker.waiting_kind !== 'report';
    if (evidence === 'screen' && worker?.state === 'waiting' && isUnseen(worker)) return;
    if (worker?.state === 'working' || atGate)
      this.append(fact('worker.idle', this.subject(undefined, evidence), {}));
  }

  /** The turn that the submitted messages asked for has ended. What an earlier process was given is not answered by it. */
  answered(evidence: Evidence): void {
    const { store, sessionId } = this.#deps;
    const attemptId = this.worker()?.attempt_id;
    const since = store.attempts(sessionId).find((attempt) => attempt.attempt_id === attemptId)?.started_at;
    const open = store
      .messages(sessionId, this.workerId)
      .filter((message) => message.state === 'submitted' || message.state === 'started')
      .filter((message) => (message.submitted_at ?? '') >= (since ?? ''));
    this.append(
      ...open.map((message) =>
        fact('message.answered', this.subject(message.run_id ?? undefined, evidence), {
          message_id: message.message_id,
        }),
      ),
    );
  }

  /** `transcript`: the file that keeps it; null where that was not said. */
  threadOpened(
    threadId: string,
    transcript: string | null = null,
    source: 'hook' | 'headless' = 'hook',
  ): void {
    const worker = this.worker();
    const isNew =
      worker?.thread_id !== threadId || (transcript !== null && worker.transcript_path !== transcript);
    if (threadId === '' || !isNew) return;
    const subject = this.subject(undefined, 'protocol', source);
    const where = transcript === null ? {} : { transcript_path: transcript };
    this.append(fact('thread.opened', subject, { thread_id: threadId, ...where }));
  }
}

function firstLines(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  return lines
    .filter((line) => line !== '')
    .slice(0, LINES_TOLD)
    .join(' / ')
    .slice(0, 300);
}

/** A turn that failed for it said so, not a dialog: that the screen takes input does not mean that it is mended. */
function isUnseen({ waiting_kind: kind, waiting_via: via }: WorkerRow): boolean {
  return via === 'hook' && (kind === 'login' || kind === 'quota');
}
