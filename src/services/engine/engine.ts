import type { BackendEvent, PastAgent, StopResult } from '../../backends/contract.js';
import type { StoredEvent } from '../../core/events/index.js';
import type { ReportedOutcome, RunRow, WorkerRow } from '../../core/state/rows.js';
import { isLiveWorker, isPerTurn, takesInstructions, type Evidence } from '../../core/state/states.js';
import { cancelRun, type CancelRequest } from './cancel-run.js';
import { fact, openRun, type EngineDeps, type FactSubject, type ProcessEnd } from './deps.js';
import { endAtOnce, endSilentRun, timeOutRun } from './end-at-once.js';
import type { Ending } from './outcomes.js';
import { endOpenRuns, recordExit, recordLost, startAnew, type Exited } from './process-end.js';
import { RunWatch } from './run-watch.js';
import { StallWatch } from './stall-watch.js';
import { TurnProcesses } from './turn-process.js';
import { WorkerActor } from './worker-actor.js';
import type { GateAnswer, GateOutcome } from './worker-gate.js';
import { WorkerRecord } from './worker-record.js';

type StateEvent = Extract<BackendEvent, { type: 'state' }>;

/** Drives the runs of one session over one backend: one actor per worker whose process lives. */
export class Engine {
  readonly #deps: EngineDeps;
  readonly #actors = new Map<string, WorkerActor>();
  /** What a screen showed last before its agent was attached: a dialog at the start is told once. */
  readonly #early = new Map<string, StateEvent>();
  readonly #unsubscribe: readonly (() => void)[];
  readonly #turns: TurnProcesses;
  readonly #watch: RunWatch;
  /** Whoever ends an agent, or found that it ended, knows it without being told. */
  readonly #endings = new Set<string>();
  readonly #stalls: StallWatch;

  constructor(deps: EngineDeps) {
    this.#deps = deps;
    this.#turns = new TurnProcesses(deps, {
      get: (workerId) => this.#actors.get(workerId),
      leave: (workerId) => this.#detach(workerId),
      pump: (workerId) => this.pump(workerId),
    });
    this.#stalls = new StallWatch(deps, (run, quietMs) => endSilentRun(deps, run, quietMs));
    this.#watch = new RunWatch(deps, (runId) => timeOutRun(deps, runId));
    this.#unsubscribe = [
      deps.backend.onEvent((event) => this.#onBackendEvent(event)),
      deps.store.subscribe(deps.store.head(), (event) => {
        if (event.seq !== null && event.session_id === deps.sessionId) this.#onMessage(event);
      }),
    ];
  }

  close(): void {
    this.#unsubscribe.forEach((unsubscribe) => unsubscribe());
    this.#watch.close();
    this.#stalls.close();
    for (const actor of this.#actors.values()) actor.close();
    this.#actors.clear();
  }

  /**
   * The worker's process exists: from here on its turns are followed and its messages delivered, unless it is `held`:
   * then from `release` on. `takenOver`: an earlier supervisor started it; nothing is delivered before `takeUp`.
   */
  attach(worker: WorkerRow, options: { held?: boolean; takenOver?: boolean } = {}): void {
    this.#actors.get(worker.worker_id)?.close();
    const actor = new WorkerActor(this.#deps, worker, options);
    this.#actors.set(worker.worker_id, actor);
    const early = this.#early.get(worker.worker_id);
    this.#early.delete(worker.worker_id);
    if (early !== undefined) actor.onState(early);
  }

  /** The agents are about to be ended: what comes now is for the processes to come. */
  hold(): void {
    for (const actor of this.#actors.values()) actor.hold();
  }

  release(workerId: string): void {
    this.#actors.get(workerId)?.release();
  }

  /**
   * For a worker attached as taken over: makes up for what happened while there was no supervisor, then its messages
   * are delivered as usual.
   */
  async takeUp(workerId: string): Promise<void> {
    const actor = this.#actors.get(workerId);
    const worker = this.#deps.store.worker(this.#deps.sessionId, workerId);
    if (actor === undefined || worker === null) return;
    if (isPerTurn(worker)) await this.#turns.adopt(worker, actor);
    await actor.takeUp();
    this.#watch.takeUp();
    this.#stalls.begin(workerId);
  }

  /** Ends a run, and every run that it asked for; see `cancel-run.ts`. */
  cancel(runId: string, request: CancelRequest): Promise<void> {
    return cancelRun(this.#deps, runId, request);
  }

  /** Ends the turn of a run whatever it is at. Resolves when its process is gone; what waits behind it stays queued. */
  async endRun({ run_id: runId, worker_id: workerId }: RunRow, ending: Ending): Promise<void> {
    const worker = this.#deps.store.worker(this.#deps.sessionId, workerId);
    await endAtOnce(this.#deps, worker, runId, ending);
  }

  /**
   * Ends the worker's agent and everything it started; what of its runs is still open is ended by `ending` once that is
   * so. One that is a process per turn is over then, though there may be no process whose end would tell.
   */
  async end(
    worker: WorkerRow,
    options: { graceMs: number; reason: string; ending?: Ending },
  ): Promise<StopResult> {
    const { worker_id: workerId } = worker;
    this.#turns.leaving(workerId);
    this.#endings.add(workerId);
    try {
      const stopped = await this.#deps.backend.stop(workerId, { graceMs: options.graceMs });
      if (options.ending !== undefined) this.endOpenRuns(worker, options.ending);
      return stopped;
    } finally {
      this.#endings.delete(workerId);
      if (this.#turns.dismiss(workerId, options.reason)) this.#detach(workerId);
    }
  }

  /** Ends a process that came up useless before anything was said to it; see `startAnew`. */
  startAnew(workerId: string, attemptId: string, reason: string): Promise<boolean> {
    return startAnew(this.#deps, { workerId, attemptId, reason });
  }

  /** A worker whose process ended while there was no supervisor: what it left settles its run before its end does. */
  async endedMeanwhile(worker: WorkerRow, past: PastAgent): Promise<void> {
    const actor = new WorkerActor(this.#deps, worker, { takenOver: true });
    try {
      await actor.collect(past.sentinels);
    } finally {
      actor.close();
    }
    const { worker_id: workerId, attempt_id: attemptId } = worker;
    const { end, outputTail } = past;
    this.#endings.add(workerId);
    if (end.kind === 'lost') this.#lost(workerId, end.reason);
    else
      this.#exited({ type: 'exited', workerId, attemptId: attemptId ?? '', status: end.status, outputTail });
    this.#endings.delete(workerId);
  }

  /**
   * Something may be due for the worker: a new message, a notice. One whose agent has ended is brought back for it.
   * Cheap; safe for unknown ids.
   */
  pump(workerId: string): void {
    const actor = this.#actors.get(workerId);
    if (actor !== undefined) return actor.pump();
    const { store, sessionId } = this.#deps;
    const worker = store.worker(sessionId, workerId);
    if (worker !== null && !isLiveWorker(worker.state) && takesInstructions(worker))
      this.#bringBack(workerId);
  }

  /**
   * Its agent may be ended without harm: it is idle, and nothing is under way to it. From here on nothing reaches that
   * process, and what comes for the worker brings it back. false: it is not so idle.
   */
  retire(workerId: string, reason: string): boolean {
    const { store, sessionId } = this.#deps;
    const isRetired = store.transaction((tx) => {
      const worker = tx.worker(sessionId, workerId);
      if (worker?.state !== 'idle' || openRun(tx, sessionId, workerId) !== null) return false;
      tx.append(fact('worker.retired', this.#subject(workerId, 'process'), { reason }));
      return true;
    });
    if (isRetired) this.#detach(workerId);
    return isRetired;
  }

  /** Its agent calls one of our tools, until what is returned is called. */
  calling(workerId: string): () => void {
    return this.#stalls.calling(workerId);
  }

  /** `hungUp` aborts when the agent no longer waits for the answer. */
  async hook(workerId: string, body: unknown, hungUp: AbortSignal): Promise<unknown> {
    const worker = this.#deps.store.worker(this.#deps.sessionId, workerId);
    const actor = this.#actors.get(workerId);
    const rules = worker === null ? null : (this.#deps.launch(worker)?.hooks ?? null);
    if (actor === undefined || rules === null) return null;
    this.#stalls.sign(workerId, 'protocol');
    // The id to resume is the one in the latest hook, not the one that was chosen at launch.
    const threadId = rules.threadId(body);
    if (threadId !== null)
      new WorkerRecord(this.#deps, workerId).threadOpened(threadId, rules.transcript?.(body) ?? null);
    return actor.onHook(rules.translate(body), hungUp);
  }

  /** Answers a dialog or request of a worker; null when its process is over. */
  async answer(workerId: string, answer: GateAnswer): Promise<GateOutcome | null> {
    return this.#actors.get(workerId)?.answer(answer) ?? null;
  }

  report(workerId: string, report: Pick<ReportedOutcome, 'state' | 'summary'>, evidence: Evidence): boolean {
    return this.#actors.get(workerId)?.report(report, evidence) ?? false;
  }

  ask(workerId: string, question: string): boolean {
    return this.#actors.get(workerId)?.ask(question) ?? false;
  }

  /** The agent did not become ready in time; somebody has to look at it. Its messages stay queued. */
  notReady(workerId: string, text: string): void {
    new WorkerRecord(this.#deps, workerId).waiting('dialog', text, 'screen');
  }

  /** Ends every open run of a worker with the same ending; used for kills, pauses and failed spawns. */
  endOpenRuns(worker: WorkerRow, ending: Ending): void {
    this.#deps.store.transaction((tx) => endOpenRuns(this.#deps, tx, worker, ending));
  }

  #onMessage(event: StoredEvent): void {
    const { worker_id = '', type, data } = event;
    this.#watch.onEvent(event);
    this.#stalls.onEvent(event);
    if (type === 'message.accepted') this.pump(worker_id);
    if (type === 'message.submitted' || type === 'message.refused')
      this.#actors.get(worker_id)?.settledElsewhere(data.message_id);
  }

  #onBackendEvent(event: BackendEvent): void {
    this.#stalls.onBackendEvent(event);
    switch (event.type) {
      case 'state':
        this.#onState(event);
        return;
      case 'sentinels':
        this.#actors.get(event.workerId)?.onSentinels(event.sentinels);
        return;
      case 'said':
        this.#actors.get(event.workerId)?.onSaid(event.attemptId, event.said);
        return;
      case 'turn_over':
        this.#turns.over(event);
        return;
      case 'exited':
        this.#exited(event);
        return;
      case 'lost':
        this.#lost(event.workerId, event.reason);
        return;
      case 'output':
      case 'pause_asked':
      case 'place_lost':
        return;
    }
  }

  #onState(event: StateEvent): void {
    const actor = this.#actors.get(event.workerId);
    if (actor === undefined) this.#early.set(event.workerId, event);
    else actor.onState(event);
  }

  #exited(event: Exited): void {
    const { store, sessionId } = this.#deps;
    const worker = store.worker(sessionId, event.workerId);
    if (worker === null || !isLiveWorker(worker.state) || worker.attempt_id !== event.attemptId) return;
    this.#detach(event.workerId);
    const goesOn = recordExit(this.#deps, worker, event);
    if (goesOn) this.#bringBack(event.workerId);
    else this.#tellEnd(event.workerId, { kind: 'exited', status: event.status });
  }

  #tellEnd(workerId: string, how: ProcessEnd): void {
    if (!this.#endings.has(workerId)) this.#deps.onEnded(workerId, how);
  }

  /** For what waits for it, if something does. */
  #bringBack(workerId: string): void {
    const { store, sessionId, bringBack } = this.#deps;
    const worker = store.worker(sessionId, workerId);
    if (worker !== null && openRun(store, sessionId, workerId)?.state === 'queued') bringBack(worker);
  }

  #lost(workerId: string, reason: string): void {
    const { store, sessionId } = this.#deps;
    const worker = store.worker(sessionId, workerId);
    if (worker === null || !isLiveWorker(worker.state)) return;
    this.#detach(workerId);
    recordLost(this.#deps, worker, reason);
    this.#tellEnd(workerId, { kind: 'lost', reason });
  }

  #detach(workerId: string): void {
    this.#actors.get(workerId)?.close();
    this.#actors.delete(workerId);
    this.#early.delete(workerId);
  }

  #subject(workerId: string, evidence: Evidence): FactSubject {
    return { session_id: this.#deps.sessionId, worker_id: workerId, source: 'supervisor', evidence };
  }
}
