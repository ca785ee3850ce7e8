import type { HookFact, HookRules } from '../../agents/contract.js';
import type { BackendEvent, Said } from '../../backends/contract.js';
import { findSentinels, type Sentinel } from '../../core/sentinels.js';
import type { ReportedOutcome, WorkerRow } from '../../core/state/rows.js';
import type { Evidence, WaitingKind } from '../../core/state/states.js';
import { wasInTurn, whatWasMissed, type Missed } from './after-restart.js';
import { Candidates } from './candidates.js';
import { Courier } from './courier.js';
import type { EngineDeps } from './deps.js';
import { watchFlag } from './flag-watch.js';
import { leftTyped } from './next-delivery.js';
import { reportOfSentinels } from './sentinel-report.js';
import { TurnStream } from './turn-stream.js';
import { WorkerGate, type GateAnswer, type GateOutcome } from './worker-gate.js';
import { WorkerRecord } from './worker-record.js';
import { WorkerTurn } from './worker-turn.js';

/**
 * The life of one worker's agent while its process lives: delivers messages in order, follows its turns, settles its
 * runs. All truth is in the store; what is kept here is only what a restart may forget.
 */
export class WorkerActor {
  readonly #deps: EngineDeps;
  readonly #workerId: string;
  /** Of the agent that is asked now: a conversation may go on with another. */
  readonly #hooks: () => HookRules | null;
  readonly #flag: ReturnType<typeof watchFlag>;
  readonly #record: WorkerRecord;
  readonly #abort = new AbortController();
  readonly #courier: Courier;
  readonly #gate: WorkerGate;
  readonly #candidates: Candidates;
  readonly #turn: WorkerTurn;
  #held: boolean;
  /** What a hook told of a turn without a terminal. */
  #failure: Extract<HookFact, { fact: 'turn_failed' }> | null = null;
  #stream: TurnStream | null = null;
  /** The attempt that an earlier supervisor began. */
  #again: string | null = null;
  /** Sentinels of an agent that was quicker than the proof that it took its text. */
  #early: Sentinel[] = [];
  #screen: Extract<BackendEvent, { type: 'state' }>['state'] = 'unknown';
  /** A hook may have been lost while there was no supervisor, and no transcript makes up for it: the screen tells. */
  #hooksMissed = false;

  constructor(deps: EngineDeps, worker: WorkerRow, options: { held?: boolean; takenOver?: boolean } = {}) {
    this.#held = options.held === true;
    this.#deps = deps;
    this.#workerId = worker.worker_id;
    this.#record = new WorkerRecord(deps, worker.worker_id);
    this.#candidates = new Candidates(deps, this.#record, () => this.pump());
    this.#hooks = () => deps.launch(this.#record.worker() ?? worker)?.hooks ?? null;
    this.#gate = new WorkerGate(deps, this.#record, this.#hooks, this.#abort.signal);
    this.#flag = watchFlag({
      privateDirectory: deps.workerDirectory(worker.worker_id),
      worktree: worker.worktree,
      onReport: (report) => this.report(report, 'flag'),
      onError: (error) => deps.logger.warn({ worker: worker.worker_id, err: error }, 'flag file not watched'),
    });
    this.#turn = new WorkerTurn({
      ...{ deps, record: this.#record, candidates: this.#candidates, flag: this.#flag, hooks: this.#hooks },
      signal: this.#abort.signal,
      onOver: () => this.pump(),
    });
    this.#courier = new Courier({
      deps,
      workerId: worker.worker_id,
      record: this.#record,
      signal: this.#abort.signal,
      takenOver: options.takenOver === true,
      isTurnOpen: () => this.#turn.isOpen,
      isWorking: () => this.#turn.isOpen && this.#screen !== 'idle',
      rearm: () => this.#rearm(),
      onTaken: (steered) => this.#taken(steered),
      onOver: () => {
        // A turn may have begun and ended while the proof was looked for. Without a terminal its output tells, and what
        // was seen last may be of the agent before.
        const isSeen = this.#screen === 'idle' && !this.#record.isPerTurn;
        if (this.#turn.isOpen && isSeen) this.#turn.closeByScreen('screen');
      },
    });
  }

  close(): void {
    this.#abort.abort();
    this.#candidates.close();
    this.#turn.keepOpen();
    this.#flag.close();
  }

  pump(): void {
    if (!this.#held) this.#courier.pump();
  }

  /** Nothing more is delivered; what is under way comes to its outcome. */
  hold(): void {
    this.#held = true;
  }

  release(): void {
    this.#held = false;
    this.pump();
  }

  /** Goes on where an earlier supervisor stopped, with what its agent did meanwhile. */
  async takeUp(): Promise<void> {
    this.#turn.reopen(wasInTurn(this.#deps, this.#workerId));
    const { left, unconfirmed, turn } = await this.collect([]);
    this.#hooksMissed = turn === null;
    // A gate may stand in that very turn; the screen tells whether it does.
    if (turn?.fact === 'prompt_submitted') this.#turn.resumed(this.#record.worker()?.state === 'waiting');
    else if (turn?.fact === 'turn_ended') await this.#turn.close('transcript', turn.text, false);
    else if (turn !== null && this.#turn.isOpen) this.#turn.failed(turn.text, 'transcript', turn);
    if (this.#abort.signal.aborted) return;
    this.#courier.begin({ left, unconfirmed });
    this.pump();
    if ((this.#record.openRun()?.reported.length ?? 0) > 0) this.#candidates.settleSoon();
  }

  /** What it left that nobody took note of: prompts in its transcript, its flag, sentinels. */
  async collect(sentinels: readonly Sentinel[]): Promise<Missed> {
    const flagged = await this.#flag.check();
    const missed = await whatWasMissed(this.#deps, this.#workerId, flagged !== null);
    for (const { next, proof } of missed.taken) this.#courier.proven(next, proof);
    if (flagged !== null) this.report(flagged, 'flag');
    this.onSentinels(sentinels);
    return missed;
  }

  settledElsewhere(messageId: string): void {
    this.#courier.settledElsewhere(messageId);
  }

  onState(event: Extract<BackendEvent, { type: 'state' }>): void {
    this.#screen = event.state;
    this.#turn.keepOpen();
    if (this.#gate.screen(event)) return;
    if (event.state === 'working') this.#turn.working(event.evidence);
    else if (event.state === 'error' && (this.#hooks()?.tellsFailures !== true || this.#hooksMissed))
      this.#turn.failed(event.text, event.evidence, { kind: event.kind ?? undefined });
    else if (event.state === 'idle' && !this.#courier.isUnderWay) this.#turn.closeByScreen(event.evidence);
  }

  /** Answers what the agent waits with; the screen or the agent itself decides whether it still does. */
  answer(answer: GateAnswer): Promise<GateOutcome> {
    return this.#gate.answer(answer);
  }

  onSentinels(sentinels: readonly Sentinel[]): void {
    if (sentinels.length === 0) return;
    const run = this.#record.openRun();
    if (run === null) return;
    if (run.started_at === null && this.#courier.isUnproven) return void this.#early.push(...sentinels);
    const report = reportOfSentinels(sentinels, run, this.#record.messages());
    if (report !== null) this.report(report, 'sentinel');
  }

  /** What the agent's hooks say. The answer, if any, is the body to give back to the agent. */
  async onHook(facts: readonly HookFact[], hungUp: AbortSignal): Promise<unknown> {
    let answer: unknown = null;
    this.#hooksMissed = false;
    for (const hook of facts) answer = (await this.#onHookFact(hook, hungUp)) ?? answer;
    return answer;
  }

  async #onHookFact(hook: HookFact, hungUp: AbortSignal): Promise<unknown> {
    const atGate = this.#gate.heard(hook, hungUp);
    switch (hook.fact) {
      case 'session_started':
        this.#record.threadOpened(hook.threadId);
        return null;
      case 'prompt_submitted':
        if (!this.#courier.promptSubmitted(hook.text)) this.#turn.steer();
        // Newer than what the screen last showed, which may be from before the turn.
        this.#screen = 'working';
        this.#turn.working('protocol');
        return null;
      case 'turn_ended':
        if (this.#turn.isSteered) return this.#turn.endOrNext(this.#screen === 'idle');
        this.#screen = 'idle';
        return hook.goesOn === true ? this.#turn.rest() : this.#turn.close('protocol', hook.text, true);
      case 'turn_failed':
        // Its output says so too, and before that everything that it did; what kind of failure it is, the agent knows best.
        if (this.#record.isPerTurn) this.#failure = hook;
        if (this.#record.isPerTurn) return null;
        this.#screen = 'idle';
        return this.#turn.failed(hook.text, 'protocol', { kind: hook.kind, hasSaid: this.#hasSaid });
      case 'waiting':
      case 'permission_requested':
      case 'session_ended':
        return atGate;
    }
  }

  /** What the process of a turn says in its own protocol. */
  onSaid(attemptId: string, said: readonly Said[]): void {
    if (this.#stream?.attemptId !== attemptId)
      this.#stream = new TurnStream(this.#deps, this.#record, attemptId, this.#again === attemptId);
    for (const one of said) {
      this.#stream.take(one);
      if (one.said === 'thread') this.#record.threadOpened(one.threadId, null, 'headless');
      if (one.said === 'prompt_taken') this.#courier.turnBegan(leftTyped(this.#record.messages()), one.proof);
      if (one.said === 'text' && !one.delta) this.onSentinels(findSentinels(one.text.split('\n')));
      if (one.said === 'turn_ended') this.#turnEnded(one);
      if (one.said === 'turn_failed') this.#turnFailed(one.text, one.kind);
    }
  }

  /** The process of a turn that another supervisor began: nothing of what it says is to be taken down twice. */
  onTurnAdopted(attemptId: string): void {
    this.#again = attemptId;
  }

  /** The process of a turn is gone. true: it had said how the turn ended. */
  onTurnOver(attemptId: string): boolean {
    void this.#gate.heard({ fact: 'session_ended' }, this.#abort.signal);
    this.#failure = null;
    const stream = this.#stream;
    if (stream?.attemptId !== attemptId) return false;
    // What ran in the background ended with it, and woke nobody.
    if (stream.rests !== null) this.#lastWord(stream.rests);
    return stream.hasEnded;
  }

  /** Another supervisor began it. */
  isAgain(attemptId: string): boolean {
    return this.#again === attemptId;
  }

  hasSaid(attemptId: string): boolean {
    return this.#stream?.attemptId === attemptId && this.#stream.hasSaid;
  }

  /** Its process is gone in the middle of a turn. */
  breakOff(): void {
    this.#turn.reopen(false);
    this.#courier.breakOff();
  }

  /** Takes a candidate for the outcome of the open run; false when there is none to report on. */
  report(report: Pick<ReportedOutcome, 'state' | 'summary'>, evidence: Evidence): boolean {
    if (this.#abort.signal.aborted) return false;
    if (evidence === 'protocol') this.#courier.provenByWord('the agent reported on it');
    return this.#candidates.take(report, evidence);
  }

  /** The run waits with a question for the lead; the turn may go on or end. */
  ask(question: string): boolean {
    if (this.#abort.signal.aborted) return false;
    this.#courier.provenByWord('the agent asked about it');
    return this.#record.asked(question);
  }

  /** In the process of this turn; of one that stays nobody can tell. */
  get #hasSaid(): boolean {
    return this.#stream?.hasSaid ?? !this.#record.isPerTurn;
  }

  #turnEnded({ text, goesOn }: Extract<Said, { said: 'turn_ended' }>): void {
    if (goesOn !== true) this.#lastWord(text);
    else if (this.#turn.isOpen) this.#turn.rest();
  }

  /** Of a turn that went on by itself after a rest, even where no hook was heard that told of it. */
  #lastWord(text: string): void {
    if (this.#stream?.hasRested === true && this.#record.openRun()?.state === 'running')
      this.#turn.reopen(true);
    this.#settled(this.#turn.close('protocol', text, false));
  }

  #turnFailed(text: string, byItsWords: WaitingKind | null): void {
    const kind = this.#failure === null ? (byItsWords ?? undefined) : this.#failure.kind;
    this.#failure = null;
    if (this.#turn.isOpen) this.#turn.failed(text, 'protocol', { kind, hasSaid: this.#hasSaid });
  }

  #settled(work: Promise<unknown>): void {
    work.catch((error: unknown) =>
      this.#deps.logger.error({ worker: this.#workerId, err: error }, 'end of turn not settled'),
    );
  }

  async #rearm(): Promise<void> {
    this.#early = [];
    await this.#flag.clear();
  }

  #taken(steered: boolean): void {
    this.#turn.taken(steered);
    const early = this.#early.splice(0);
    if (early.length > 0) this.onSentinels(early);
  }
}
