import type { Delivery, EarlierDelivery } from '../../backends/contract.js';
import { toOrchestratorError } from '../../core/errors/error.js';
import { takenBefore } from './after-restart.js';
import type { EngineDeps } from './deps.js';
import { THREAD_IN_USE } from './failed-attempt.js';
import { typeable } from './hand-over.js';
import { inConversation } from './in-conversation.js';
import { beginWithFirst } from './next-agent.js';
import { nextDelivery, type NextDelivery } from './next-delivery.js';
import { observeDelivery, recordDelivery, recordSubmitted, type Proof } from './receipts.js';
import { holdsText, isSameText } from './same-text.js';
import { leavePlace, placeFor, planTurn } from './turn-start.js';
import type { WorkerRecord } from './worker-record.js';

export interface CourierOptions {
  readonly deps: EngineDeps;
  readonly workerId: string;
  readonly record: WorkerRecord;
  /** Aborts when the process is over or the engine closes. */
  readonly signal: AbortSignal;
  /** The agent is another supervisor's: nothing is delivered before `begin`. */
  readonly takenOver: boolean;
  isTurnOpen(): boolean;
  /** The agent is seen to be in its turn; one whose turn is over may only not have said so yet. */
  isWorking(): boolean;
  /** A new instruction is about to arrive: what was flagged or printed before no longer counts. */
  rearm(): Promise<void>;
  /** The agent took a text: a turn has begun, or, when one was open as it was typed, it was taken into that (`steered`). */
  onTaken(steered: boolean): void;
  /** A delivery has ended, one way or the other. */
  onOver(): void;
}

const BY_ITS_WORD: Proof = { evidence: 'protocol', how: 'the agent said that its turn began' };

interface UnderWay {
  next: NextDelivery;
  prove: (proof: Proof) => void;
  readonly calledOff: AbortController;
  /** The text is in the composer. Before that nothing the agent does can be a proof. */
  typed: boolean;
  /** A turn was open when it was typed. */
  steers: boolean;
  /** It has a process of its own. */
  readonly isTurn: boolean;
}

/** Brings one worker's messages to its agent, one at a time and in order, and keeps their receipts true. */
export class Courier {
  readonly #options: CourierOptions;
  #busy = false;
  #underWay: UnderWay | null = null;
  /** Typed last, without a proof: the agent's own word may still bring it. */
  #unproven: NextDelivery | null = null;
  #begun: boolean;
  /** The next text may stand in the composer already. */
  #mayStand: boolean;

  constructor(options: CourierOptions) {
    this.#options = options;
    this.#begun = !options.takenOver;
    this.#mayStand = options.takenOver;
  }

  /**
   * Goes on where an earlier supervisor stopped: `left` was typed by it, `unconfirmed` given up. What was not typed yet
   * waits for `pump`.
   */
  begin(was: { left: NextDelivery | null; unconfirmed: NextDelivery | null }): void {
    this.#begun = true;
    if (was.left === null) {
      this.#unproven = was.unconfirmed;
    } else {
      this.#mayStand = false;
      this.#start(was.left, 'typed');
    }
  }

  /** Something that is left from an earlier supervisor is proven. */
  proven(next: NextDelivery, proof: Proof): void {
    this.#submitted(next, proof);
  }

  /** Starts the next delivery if one is due and none is under way. */
  pump(): void {
    const { deps, workerId, signal, isTurnOpen } = this.#options;
    if (!this.#begun || this.#busy || signal.aborted) return;
    const next = nextDelivery(deps, workerId, isTurnOpen());
    const mayStand = this.#mayStand;
    this.#mayStand = false;
    if (next !== null) this.#start(next, mayStand ? 'perhaps' : null);
  }

  #start(next: NextDelivery, earlier: EarlierDelivery['state'] | null): void {
    const { deps, workerId, signal, onOver } = this.#options;
    this.#busy = true;
    const log = (error: unknown) =>
      deps.logger.error({ worker: workerId, err: error }, 'delivery not recorded');
    this.#deliver(next, earlier)
      .then(
        () => true,
        (error: unknown) => {
          log(error);
          return false;
        },
      )
      .then((isRecorded) => {
        this.#busy = false;
        if (signal.aborted) return;
        onOver();
        // What could not be recorded is due still: it waits for the next event, or it would be typed again and again.
        if (isRecorded) this.pump();
      })
      .catch(log);
  }

  /** Whether it is under way to the agent, `typed` or still before that. */
  get isUnderWay(): boolean {
    return this.#underWay !== null;
  }

  /** A text stands in the composer or was typed without a proof. */
  get isUnproven(): boolean {
    return this.#underWay?.typed === true || this.#unproven !== null;
  }

  /** The agent's prompt hook names the text that it took; false when it is none of ours. */
  promptSubmitted(text: string): boolean {
    const next = this.#underWay?.next ?? this.#unproven;
    if (next === null) return false;
    const how = isSameText(text, next.text)
      ? 'the agent said so (prompt hook)'
      : holdsText(text, next.text)
        ? 'the agent took it together with other text (prompt hook)'
        : null;
    if (how !== null) this.#submitted(next, { evidence: 'protocol', how });
    return how !== null;
  }

  /** The process of a turn has its text: by its own word, unless something else is the proof. */
  turnBegan(left: NextDelivery | null, proof: Proof = BY_ITS_WORD): void {
    const next = this.#underWay?.next ?? left;
    if (next !== null) this.#submitted(next, proof);
  }

  /** What the agent says of its work proves that it has the text — but never one that is still kept back from it. */
  provenByWord(how: string): void {
    const next = this.#underWay === null ? this.#unproven : this.#underWay.typed ? this.#underWay.next : null;
    if (next !== null) this.#submitted(next, { evidence: 'protocol', how });
  }

  /** The process that had the text is gone; what becomes of the text is decided elsewhere. */
  breakOff(): void {
    this.#unproven = null;
  }

  /** Somebody else settled the message (told in a tool result, its run over): it must not be typed as well. */
  settledElsewhere(messageId: string): void {
    const { next, typed, calledOff } = this.#underWay ?? {};
    if (typed === false && next?.messageIds.includes(messageId) === true) calledOff?.abort();
  }

  async #deliver(due: NextDelivery, earlier: EarlierDelivery['state'] | null): Promise<void> {
    const { deps, workerId, record, signal } = this.#options;
    this.#unproven = null;
    const underWay: UnderWay = {
      ...{ next: due, prove: () => undefined, calledOff: new AbortController() },
      ...{ typed: earlier === 'typed', steers: false, isTurn: record.isPerTurn },
    };
    this.#underWay = underWay;
    try {
      const stop = AbortSignal.any([signal, underWay.calledOff.signal]);
      if (earlier !== 'typed' && !(await placeFor(deps, workerId, due, stop))) return;
      const delivery = await this.#send(underWay, earlier, stop);
      const { next } = underWay;
      if (stop.aborted && !underWay.typed) leavePlace(deps, workerId, due);
      if (signal.aborted || delivery === null) return;
      if (delivery.outcome === 'submitted') return this.#submitted(next, delivery);
      // What became of the process of a turn is told by itself, and what follows with it.
      if (underWay.isTurn) return;
      if (!recordDelivery(deps, workerId, next, delivery)) return;
      if (delivery.outcome === 'unconfirmed') this.#unproven = next;
      record.undelivered(next.runId, whatHappened(delivery));
    } finally {
      this.#underWay = null;
    }
  }

  /** null: it was called off, and whoever did that has settled the messages; the others of a batch stay due. */
  async #send(
    underWay: UnderWay,
    earlier: EarlierDelivery['state'] | null,
    signal: AbortSignal,
  ): Promise<Delivery | null> {
    const { deps, workerId, record, rearm } = this.#options;
    const { promise: confirmation, resolve: prove } = promiseWithResolver<Proof>();
    const wasTyped = earlier === 'typed';
    underWay.prove = prove;
    try {
      beginWithFirst(deps, workerId, underWay.next.runId);
      const next = await typeable(deps, workerId, inConversation(deps, workerId, underWay.next));
      underWay.next = next;
      const observer = observeDelivery(deps, record, next, this.#options.signal);
      // What the agent flagged since it was typed is about it.
      if (next.rearms && !wasTyped) await rearm();
      const turn = wasTyped ? null : await planTurn(deps, workerId, next);
      const delivery = await deps.backend.send(workerId, next.text, {
        observer: {
          held: observer.held,
          typed: (bytes) => {
            underWay.typed = true;
            underWay.steers = this.#options.isWorking();
            observer.typed(bytes);
            // What the agent flagged while the text was held was about something else.
            if (next.rearms) void rearm();
          },
        },
        confirmation,
        ...(earlier === null ? {} : { earlier: { state: earlier, takenBefore: this.#takenBefore(next) } }),
        ...(turn === null ? {} : { turn }),
        signal,
      });
      return delivery.outcome === 'refused' && underWay.calledOff.signal.aborted ? null : delivery;
    } catch (error) {
      deps.logger.error({ worker: workerId, err: error }, 'delivery failed');
      const { code, message: reason } = toOrchestratorError(error);
      const refused = { outcome: 'refused', reason } as const;
      // No process was made whose end would tell.
      if (underWay.isTurn && !underWay.typed) {
        leavePlace(deps, workerId, underWay.next);
        recordDelivery(deps, workerId, underWay.next, refused);
        const thread = code === THREAD_IN_USE ? 'in_use' : null;
        record.failed({ reason, evidence: 'process', code, thread, hasSaid: false });
      }
      return refused;
    }
  }

  #takenBefore(next: NextDelivery): number {
    const { deps, workerId } = this.#options;
    return takenBefore(deps.store.messages(deps.sessionId, workerId), next);
  }

  #submitted(next: NextDelivery, proof: Proof): void {
    this.#unproven = null;
    const { deps, workerId, onTaken } = this.#options;
    const how = next.file === undefined ? proof.how : `${proof.how}; it names the file ${next.file}`;
    if (recordSubmitted(deps, workerId, next, { ...proof, how })) onTaken(this.#underWay?.steers === true);
    this.#underWay?.prove(proof);
  }
}

function whatHappened(delivery: Exclude<Delivery, { outcome: 'submitted' }>): string {
  return delivery.outcome === 'unconfirmed'
    ? `a message was typed but nothing proves that the agent took it; its screen:\n${delivery.screen}`
    : `a message could not be delivered: ${delivery.reason}`;
}

function promiseWithResolver<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => (resolve = settle));
  return { promise, resolve };
}
