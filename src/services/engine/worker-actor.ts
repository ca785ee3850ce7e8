import type { HookFact, HookRules } from '../../agents/contract.js';
import type { BackendEvent, Sentinel } from '../../backends/contract.js';
import { delay } from '../../core/clock.js';
import type { ReportedOutcome, RunRow, WorkerRow } from '../../core/state/rows.js';
import type { Evidence, WaitingKind } from '../../core/state/states.js';
import { leadContinueText, reportNowText } from '../context/engine-texts.js';
import { wasInTurn, whatWasMissed, type Missed } from './after-restart.js';
import { Candidates } from './candidates.js';
import { Courier } from './courier.js';
import type { EngineDeps } from './deps.js';
import { watchFlag } from './flag-watch.js';
import { reportOfSentinels } from './sentinel-report.js';
import { leadTurnVerdict, workerTurnVerdict } from './turn-verdicts.js';
import { WorkerGate, type GateAnswer, type GateOutcome } from './worker-gate.js';
import { WorkerRecord } from './worker-record.js';

/** How long evidence that travels other ways (flag file, screen) may lag behind the end of a turn. */
const EVIDENCE_LAG_MS = 250;
/** A hook outranks the screen: wait this long for it before an idle screen ends a turn. */
const HOOK_LAG_MS = 700;

/**
 * The life of one worker's agent while its process lives: delivers messages in order, follows its turns, settles its
 * runs. All truth is in the store; what is kept here is only what a restart may forget.
 */
export class WorkerActor {
  readonly #deps: EngineDeps;
  readonly #workerId: string;
  readonly #hooks: HookRules | null;
  readonly #flag: ReturnType<typeof watchFlag>;
  readonly #record: WorkerRecord;
  readonly #abort = new AbortController();
  readonly #courier: Courier;
  readonly #gate: WorkerGate;
  readonly #candidates: Candidates;
  #held: boolean;
  #turnOpen = false;
  /** A text was taken into the turn that runs: whether it belongs to that turn or starts the next one is not known. */
  #steered = false;
  /** Sentinels of an agent that was quicker than the proof that it took its text. */
  #early: Sentinel[] = [];
  #screen: Extract<BackendEvent, { type: 'state' }>['state'] = 'unknown';
  /** A hook may have been lost while there was no supervisor, and no transcript makes up for it: the screen tells. */
  #hooksMissed = false;
  #cancelClose: (() => void) | null = null;

  constructor(deps: EngineDeps, worker: WorkerRow, options: { held?: boolean; takenOver?: boolean } = {}) {
    this.#held = options.held === true;
    this.#deps = deps;
    this.#workerId = worker.worker_id;
    this.#record = new WorkerRecord(deps, worker.worker_id);
    this.#candidates = new Candidates(deps, this.#record, () => this.pump());
    this.#hooks = deps.adapter(worker.agent).interactive?.hooks ?? null;
    this.#gate = new WorkerGate(deps, this.#record, this.#hooks, this.#abort.signal);
    this.#flag = watchFlag({
      privateDirectory: deps.workerDirectory(worker.worker_id),
      worktree: worker.worktree,
      onReport: (report) => this.report(report, 'flag'),
      onError: (error) => deps.logger.warn({ worker: worker.worker_id, err: error }, 'flag file not watched'),
    });
    this.#courier = new Courier({
      deps,
      workerId: worker.worker_id,
      record: this.#record,
      signal: this.#abort.signal,
      takenOver: options.takenOver === true,
      isTurnOpen: () => this.#turnOpen,
      rearm: () => this.#rearm(),
      onTaken: (steered) => this.#taken(steered),
      onOver: () => {
        // A turn may have begun and ended while the proof was looked for.
        if (this.#turnOpen && this.#screen === 'idle') this.#closeTurnByScreen('screen');
      },
    });
  }

  close(): void {
    this.#abort.abort();
    this.#candidates.close();
    this.#cancelClose?.();
    this.#flag.close();
  }

  pump(): void {
    if (!this.#held) this.#courier.pump();
  }

  release(): void {
    this.#held = false;
    this.pump();
  }

  /** Goes on where an earlier supervisor stopped, with what its agent did meanwhile. */
  async takeUp(): Promise<void> {
    this.#turnOpen = wasInTurn(this.#deps, this.#workerId);
    const { left, unconfirmed, turn } = await this.collect([]);
    this.#hooksMissed = turn === null;
    if (turn?.fact === 'prompt_submitted') this.#working('transcript');
    else if (turn?.fact === 'turn_ended') await this.#closeTurn('transcript', turn.text, false);
    else if (turn !== null && this.#turnOpen) this.#turnFailed(turn.text, 'transcript', turn.kind);
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
    this.#cancelClose?.();
    if (this.#gate.screen(event)) return;
    if (event.state === 'working') this.#working(event.evidence);
    else if (event.state === 'error' && (this.#hooks === null || this.#hooksMissed))
      this.#turnFailed(event.text, event.evidence);
    else if (event.state === 'idle' && !this.#courier.isUnderWay) this.#closeTurnByScreen(event.evidence);
  }

  /** Answers what the agent waits with; the screen or the agent itself decides whether it still does. */
  answer(answer: GateAnswer): Promise<GateOutcome> {
    return this.#gate.answer(answer);
  }

  onSentinels(sentinels: readonly Sentinel[]): void {
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
        if (!this.#courier.promptSubmitted(hook.text) && this.#turnOpen) this.#steered = true;
        // Newer than what the screen last showed, which may be from before the turn.
        this.#screen = 'working';
        this.#working('protocol');
        return null;
      case 'turn_ended':
        if (this.#steered) return this.#endOrNext();
        this.#screen = 'idle';
        return hook.goesOn === true ? this.#rest() : this.#closeTurn('protocol', hook.text, true);
      case 'turn_failed':
        this.#screen = 'idle';
        return this.#turnFailed(hook.text, 'protocol', hook.kind);
      case 'waiting':
      case 'permission_requested':
      case 'session_ended':
        return atGate;
    }
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

  async #rearm(): Promise<void> {
    this.#early = [];
    await this.#flag.clear();
  }

  #taken(steered: boolean): void {
    if (steered) this.#steered = true;
    this.#turnOpen = true;
    this.#cancelClose?.();
    const early = this.#early.splice(0);
    if (early.length > 0) this.onSentinels(early);
  }

  /** What was sent into the turn may start the next one at once; an idle screen tells that it did not. */
  #endOrNext(): null {
    this.#steered = false;
    if (this.#screen === 'idle') this.#closeTurnByScreen('screen');
    return null;
  }

  #working(evidence: Evidence): void {
    this.#turnOpen = true;
    this.#cancelClose?.();
    this.#record.working(evidence);
  }

  /** An agent that failed in its turn takes input again. A lead is asked to go on; a worker's failure is its lead's to see. */
  #turnFailed(text: string, evidence: Evidence, kind?: WaitingKind): null {
    this.#turnOpen = this.#steered = false;
    this.#record.answered(evidence);
    const settled = this.#record.worker()?.role === 'worker' && this.#candidates.settle();
    if (!settled && kind !== undefined) this.#record.waiting(kind, text, evidence);
    else if (this.#record.worker()?.role === 'lead') this.#leadTurnEnded();
    else if (!settled) this.#record.unreported(text, evidence);
    this.pump();
    return null;
  }

  /** The turn is over, but something of it still runs and wakes the agent: what it reported so far is not the last word. */
  #rest(): null {
    this.#cancelClose?.();
    this.#turnOpen = false;
    this.#record.answered('protocol');
    this.#record.idle('protocol');
    this.pump();
    return null;
  }

  #closeTurnByScreen(evidence: Evidence): void {
    if (!this.#turnOpen) return this.#record.idle(evidence);
    this.#cancelClose?.();
    this.#cancelClose = this.#deps.clock.after(this.#hooks === null ? EVIDENCE_LAG_MS : HOOK_LAG_MS, () => {
      this.#closeTurn(evidence, '', false).catch((error: unknown) =>
        this.#deps.logger.error({ worker: this.#workerId, err: error }, 'end of turn not settled'),
      );
    });
  }

  async #closeTurn(evidence: Evidence, text: string, fromHook: boolean): Promise<unknown> {
    this.#cancelClose?.();
    if (!this.#turnOpen) return null;
    this.#turnOpen = this.#steered = false;
    this.#record.pastGate(evidence);
    this.#record.answered(evidence);
    const worker = this.#record.worker();
    const answer =
      worker?.role === 'lead' ? this.#leadTurnEnded() : await this.#workerTurnEnded(text, fromHook);
    if (answer === null && !this.#turnOpen) this.#record.idle(evidence);
    this.pump();
    return answer;
  }

  async #workerTurnEnded(text: string, fromHook: boolean): Promise<unknown> {
    if (this.#record.openRun()?.state === 'running') {
      const flagged = await this.#flag.check();
      if (flagged !== null) this.report(flagged, 'flag');
      else await delay(this.#deps.clock, EVIDENCE_LAG_MS, this.#abort.signal);
    }
    if (this.#abort.signal.aborted || this.#turnOpen) return null;
    const run = this.#record.openRun();
    const verdict = workerTurnVerdict(this.#deps, run);
    if (run === null || verdict === 'rest') return null;
    if (verdict === 'nudge') return this.#nudge(run, reportNowText(run.nonce), fromHook);
    if (verdict === 'settle') this.#candidates.settle();
    else if (verdict === 'question') this.#record.questionOpen(run);
    else this.#record.unreported(text === '' ? 'its turn ended without a report' : text, 'protocol');
    return null;
  }

  #nudge(run: RunRow, text: string, fromHook: boolean): unknown {
    const answer = fromHook ? (this.#hooks?.continueTurn(text) ?? null) : null;
    this.#record.nudged(run, text, answer === null ? null : 'answer to the end-of-turn hook');
    if (answer !== null) this.#turnOpen = true;
    return answer;
  }

  #leadTurnEnded(): null {
    const run = this.#record.openRun();
    const verdict = leadTurnVerdict(this.#deps, run);
    if (run !== null && verdict === 'nudge') this.#nudge(run, leadContinueText(), false);
    if (verdict === 'stuck') {
      const text = 'the lead ended its turn; the goal is neither done nor failed';
      this.#record.waiting('report', text, 'protocol');
      this.#deps.onLeadStuck();
    }
    return null;
  }
}
