import type { EventSource, NewEvent } from '../../core/events/index.js';
import type { RunRow, WorkerRow } from '../../core/state/rows.js';
import { isLiveWorker, isTerminalRun, type Evidence, type WaitingKind } from '../../core/state/states.js';
import { fact, openRun, type EngineDeps, type FactSubject } from './deps.js';
import { noticeFor } from './notices.js';

/** One worker's rows: reads them and appends what changes its state. Every method is one transaction. */
export class WorkerRecord {
  readonly #deps: EngineDeps;
  readonly #workerId: string;

  constructor(deps: EngineDeps, workerId: string) {
    this.#deps = deps;
    this.#workerId = workerId;
  }

  worker(): WorkerRow | null {
    return this.#deps.store.worker(this.#deps.sessionId, this.#workerId);
  }

  openRun(): RunRow | null {
    return openRun(this.#deps.store, this.#deps.sessionId, this.#workerId);
  }

  append(...events: NewEvent[]): void {
    if (events.length > 0) this.#deps.store.append(...events);
  }

  subject(runId: string | undefined, evidence: Evidence, source?: EventSource): FactSubject {
    return {
      session_id: this.#deps.sessionId,
      worker_id: this.#workerId,
      source: source ?? (this.#deps.backend.name === 'tmux' ? 'tmux' : 'headless'),
      evidence,
      ...(runId === undefined ? {} : { run_id: runId }),
    };
  }

  notice(text: string, evidence: Evidence): NewEvent {
    const perspective = this.worker()?.perspective ?? '';
    return noticeFor(this.#deps, this.#workerId, `${this.#workerId} (${perspective}) ${text}`, evidence);
  }

  /** The agent is in a turn; a run that waited at the agent's own gate goes on with it. */
  working(evidence: Evidence): void {
    const worker = this.worker();
    const run = this.openRun();
    const resumes = run?.state === 'waiting' && run.waiting_kind !== 'question';
    if (worker === null || !isLiveWorker(worker.state) || (worker.state === 'working' && !resumes)) return;
    const runId = run === null || run.state === 'queued' ? undefined : run.run_id;
    if (run?.waiting_kind === 'permission' && runId !== undefined)
      this.append(
        fact('permission.answered', this.subject(runId, evidence), {
          answer: 'given at the agent',
          by: 'person',
        }),
      );
    this.append(fact('worker.working', this.subject(runId, evidence), {}));
  }

  /** The agent needs somebody; the lead is told, and the run of a worker waits with it. */
  waiting(kind: WaitingKind, text: string, evidence: Evidence): void {
    const worker = this.worker();
    if (worker === null || !isLiveWorker(worker.state)) return;
    if (worker.state === 'waiting' && worker.waiting_kind === kind) return;
    const run = this.openRun();
    const events: NewEvent[] = [fact('worker.waiting', this.subject(run?.run_id, evidence), { kind, text })];
    if (run?.state === 'running' && worker.role === 'worker') {
      const subject = this.subject(run.run_id, evidence);
      if (kind === 'permission') events.push(fact('permission.requested', subject, { text }));
      events.push(fact('run.waiting', subject, { kind, text }));
    }
    if (worker.role === 'worker') events.push(this.notice(`waits (${kind}): ${firstLines(text)}`, evidence));
    this.append(...events);
  }

  /** What was sent did not arrive: its run waits with it, whatever else the agent shows, and the lead is told each time. */
  undelivered(runId: string | undefined, text: string): void {
    const worker = this.worker();
    if (worker === null || !isLiveWorker(worker.state)) return;
    const run = runId === undefined ? null : this.#deps.store.run(runId);
    const waits = { kind: 'dialog', text } as const;
    const subject = this.subject(runId, 'screen');
    const events: NewEvent[] = [fact('worker.waiting', subject, waits)];
    if (worker.role === 'worker') {
      if (run !== null && !isTerminalRun(run.state)) events.push(fact('run.waiting', subject, waits));
      events.push(this.notice(`waits (dialog): ${firstLines(text)}`, 'screen'));
    }
    this.append(...events);
  }

  /** The run waits for an answer. Asked again, because the answer of the call was lost, it is the same question. */
  asked(run: RunRow, question: string): void {
    if (run.waiting_kind === 'question' && run.waiting_text === question) return;
    const subject = this.subject(run.run_id, 'protocol');
    this.append(
      fact('question.asked', subject, { question }),
      fact('run.waiting', subject, { kind: 'question', text: question }),
      this.notice(`asks: ${question}`, 'protocol'),
    );
  }

  /** Its turn is over; its question stays. */
  questionOpen(run: RunRow): void {
    const text = run.waiting_text ?? '';
    this.append(fact('worker.waiting', this.subject(run.run_id, 'protocol'), { kind: 'question', text }));
  }

  idle(evidence: Evidence): void {
    const worker = this.worker();
    const atGate =
      worker?.state === 'waiting' && worker.waiting_kind !== 'question' && worker.waiting_kind !== 'report';
    if (worker?.state === 'working' || atGate)
      this.append(fact('worker.idle', this.subject(undefined, evidence), {}));
  }

  /** The turn that the submitted messages asked for has ended. */
  answered(evidence: Evidence): void {
    const open = this.#deps.store
      .messages(this.#deps.sessionId, this.#workerId)
      .filter((message) => message.state === 'submitted' || message.state === 'started');
    this.append(
      ...open.map((message) =>
        fact('message.answered', this.subject(message.run_id ?? undefined, evidence), {
          message_id: message.message_id,
        }),
      ),
    );
  }

  /** Asked to go on or to report: as the answer of the hook that told of the end of its turn, else as a message. */
  nudged(run: RunRow, nudge: { text: string; messageId: string; byAnswer: boolean }): void {
    const subject = this.subject(run.run_id, 'protocol');
    const message_id = nudge.messageId;
    const about = { kind: 'nudge', sender: 'agentorchestr', text: nudge.text, about: null } as const;
    const how = 'answer to the end-of-turn hook';
    this.append(
      fact('message.accepted', subject, { message_id, ...about }),
      ...(nudge.byAnswer ? [fact('message.submitted', subject, { message_id, how })] : []),
    );
  }

  /** `transcript`: the file that keeps it; null where that was not said. */
  threadOpened(threadId: string, transcript: string | null = null): void {
    const worker = this.worker();
    const isNew =
      worker?.thread_id !== threadId || (transcript !== null && worker.transcript_path !== transcript);
    if (threadId === '' || !isNew) return;
    const subject = this.subject(undefined, 'protocol', 'hook');
    const where = transcript === null ? {} : { transcript_path: transcript };
    this.append(fact('thread.opened', subject, { thread_id: threadId, ...where }));
  }
}

function firstLines(text: string): string {
  return text.trim().split('\n').slice(0, 3).join(' / ').slice(0, 300);
}
