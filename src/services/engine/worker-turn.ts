import type { HookRules } from '../../agents/contract.js';
import { delay } from '../../core/clock.js';
import type { RunRow } from '../../core/state/rows.js';
import type { Evidence, WaitingKind } from '../../core/state/states.js';
import { leadContinueText, reportNowText } from '../context/engine-texts.js';
import type { Candidates } from './candidates.js';
import type { EngineDeps } from './deps.js';
import type { watchFlag } from './flag-watch.js';
import { hasUndelivered } from './next-delivery.js';
import { bestCandidate } from './outcomes.js';
import { leadTurnVerdict, workerTurnVerdict } from './turn-verdicts.js';
import type { WorkerRecord } from './worker-record.js';

/** How long evidence that travels other ways (flag file, screen) may lag behind the end of a turn. */
const EVIDENCE_LAG_MS = 250;
/** A hook outranks the screen: wait this long for it before an idle screen ends a turn. */
const HOOK_LAG_MS = 700;

export interface TurnParts {
  readonly deps: EngineDeps;
  readonly record: WorkerRecord;
  readonly candidates: Candidates;
  readonly flag: ReturnType<typeof watchFlag>;
  hooks(): HookRules | null;
  /** Aborts when the process is over or the engine closes. */
  readonly signal: AbortSignal;
  /** Whatever is due next may be delivered. */
  onOver(): void;
}

export interface TurnFailure {
  /** What only a person can mend. */
  readonly kind?: WaitingKind | undefined;
  /** The agent said or did something before; absent: nobody can tell. */
  readonly hasSaid?: boolean;
}

/** Whether one worker's agent is in a turn, and what follows when the turn ends. */
export class WorkerTurn {
  readonly #parts: TurnParts;
  #open = false;
  /** How many have begun. */
  #turns = 0;
  /** A text was taken into the turn that runs: whether it belongs to that turn or starts the next one is not known. */
  #steered = false;
  #cancelClose: (() => void) | null = null;

  constructor(parts: TurnParts) {
    this.#parts = parts;
  }

  get isOpen(): boolean {
    return this.#open;
  }

  get isSteered(): boolean {
    return this.#steered;
  }

  /** It is known to be in a turn from before this supervisor. */
  reopen(isOpen: boolean): void {
    if (isOpen) this.#begin();
    else this.#open = false;
  }

  #begin(): void {
    if (!this.#open) this.#turns += 1;
    this.#open = true;
  }

  /** The agent took a text: a turn has begun, or `steered`: it was taken into the one that was open. */
  taken(steered: boolean): void {
    if (steered) this.#steered = true;
    this.#begin();
    this.keepOpen();
  }

  steer(): void {
    if (this.#open) this.#steered = true;
  }

  /** An end that a screen showed is called off. */
  keepOpen(): void {
    this.#cancelClose?.();
    this.#cancelClose = null;
  }

  working(evidence: Evidence): void {
    this.#begin();
    this.keepOpen();
    this.#parts.record.working(evidence);
  }

  /** In a turn that began under an earlier supervisor. */
  resumed(atGate: boolean): void {
    this.#begin();
    if (!atGate) this.#parts.record.working('transcript');
  }

  /** What was sent into the turn may start the next one at once; an idle screen tells that it did not. */
  endOrNext(isIdle: boolean): null {
    this.#steered = false;
    if (isIdle) this.closeByScreen('screen');
    return null;
  }

  /** The turn is over, but something of it still runs and wakes the agent: what it reported so far is not the last word. */
  rest(): null {
    const { record, onOver } = this.#parts;
    this.keepOpen();
    this.#open = false;
    record.answered('protocol');
    record.idle('protocol');
    onOver();
    return null;
  }

  closeByScreen(evidence: Evidence): void {
    const { deps, record, hooks } = this.#parts;
    if (!this.#open) return record.idle(evidence);
    this.keepOpen();
    this.#cancelClose = deps.clock.after(hooks() === null ? EVIDENCE_LAG_MS : HOOK_LAG_MS, () => {
      this.close(evidence, '', false).catch((error: unknown) =>
        deps.logger.error({ worker: record.workerId, err: error }, 'end of turn not settled'),
      );
    });
  }

  /** An agent that failed in its turn takes input again. A lead is asked to go on; a worker's failure is its lead's to see. */
  failed(text: string, evidence: Evidence, { kind, hasSaid = true }: TurnFailure = {}): null {
    const { deps, record, candidates, onOver } = this.#parts;
    this.#open = this.#steered = false;
    const run = record.openRun();
    if (run !== null && run.cancel_requested_at !== null) {
      // It was broken off, as somebody wanted.
      record.cancelled(run);
      if (!record.isPerTurn) record.idle(evidence);
      onOver();
      return null;
    }
    record.answered(evidence);
    const worker = record.worker();
    const settled =
      worker?.role === 'worker' &&
      (candidates.settle() ||
        (deps.outcomeBy(worker) === 'turn' && record.failed({ reason: text, evidence, kind, hasSaid })));
    if (!settled && kind !== undefined) record.waiting(kind, text, evidence);
    else if (worker?.role === 'lead') this.#leadTurnEnded();
    else if (!settled) record.unreported(text, evidence);
    onOver();
    return null;
  }

  /** The answer, if any, is the body to give back to the hook that told of the end (`fromHook`). */
  async close(evidence: Evidence, text: string, fromHook: boolean): Promise<unknown> {
    const { record, onOver } = this.#parts;
    this.keepOpen();
    if (!this.#open) return null;
    this.#open = this.#steered = false;
    const turn = this.#turns;
    record.pastGate(evidence);
    record.answered(evidence);
    const answer =
      record.worker()?.role === 'lead' ? this.#leadTurnEnded() : await this.#workerTurnEnded(text, fromHook);
    // Closed meanwhile: to call it idle would tell whoever takes over that nothing was left to settle.
    if (this.#parts.signal.aborted) return null;
    if (answer === null && this.#isLast(turn)) record.idle(evidence);
    onOver();
    return answer;
  }

  /** It is over, and none has begun since: one that began and ended while evidence was waited for has the last word. */
  #isLast(turn: number): boolean {
    return !this.#open && turn === this.#turns;
  }

  async #workerTurnEnded(text: string, fromHook: boolean): Promise<unknown> {
    const { deps, record, candidates, flag, signal } = this.#parts;
    const turn = this.#turns;
    const reported = record.openRun();
    if (reported?.state === 'running' && !isReportedForGood(reported)) {
      const flagged = await flag.check();
      if (flagged !== null) candidates.take(flagged, 'flag');
      else await delay(deps.clock, EVIDENCE_LAG_MS, signal);
    }
    if (signal.aborted || !this.#isLast(turn)) return null;
    const worker = record.worker();
    const open = record.openRun();
    const isOutcome = worker !== null && deps.outcomeBy(worker) === 'turn';
    // An answer that came while the turn that asked was still open begins another turn of the same run.
    if (isOutcome && open?.state === 'running' && !hasUndelivered(deps, open))
      candidates.take({ state: 'succeeded', summary: text }, 'protocol');
    const run = record.openRun();
    const verdict = workerTurnVerdict(deps, run);
    if (run === null || verdict === 'rest') return null;
    if (verdict === 'nudge') return this.#nudge(run, reportNowText(run.nonce), fromHook);
    if (verdict === 'cancelled') record.cancelled(run);
    else if (verdict === 'settle') candidates.settle();
    else if (verdict === 'question') record.questionOpen(run);
    else record.unreported(text === '' ? 'its turn ended without a report' : text, 'protocol');
    return null;
  }

  #nudge(run: RunRow, text: string, fromHook: boolean): unknown {
    const { record, hooks } = this.#parts;
    const answer = fromHook ? (hooks()?.continueTurn(text) ?? null) : null;
    record.nudged(run, text, answer === null ? null : 'answer to the end-of-turn hook');
    if (answer !== null) this.#begin();
    return answer;
  }

  #leadTurnEnded(): null {
    const { deps, record } = this.#parts;
    const run = record.openRun();
    const verdict = leadTurnVerdict(deps, run);
    if (run !== null && verdict === 'nudge') this.#nudge(run, leadContinueText(), false);
    if (verdict === 'stuck') {
      const text = 'the lead ended its turn; the goal is neither done nor failed';
      record.waiting('report', text, 'protocol');
      deps.onLeadStuck();
    }
    return null;
  }
}

/** Nothing that comes another way, later, would outweigh it. */
function isReportedForGood({ reported }: RunRow): boolean {
  return bestCandidate(reported)?.evidence === 'protocol';
}
