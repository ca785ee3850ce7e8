import type {
  Answered,
  BackendEvent,
  Delivery,
  DialogAnswer,
  DialogShown,
  HeldReason,
  LiveAgent,
  PastAgent,
  Reflowed,
  SendOptions,
  StartedAgent,
  StartSpec,
  StopResult,
  TurnBackend,
} from '../../src/backends/contract.js';
import type { Evidence, WaitingKind } from '../../src/core/state/states.js';

const CANCELLED: Delivery = { outcome: 'refused', reason: 'cancelled before anything was typed' };

/** One text on its way; the test plays the pane. */
export class Sending {
  readonly workerId: string;
  readonly text: string;
  readonly options: SendOptions;
  /** null while it is under way. */
  outcome: Delivery | null = null;
  isTyped = false;
  readonly #settle: (delivery: Delivery) => void;

  constructor(workerId: string, text: string, options: SendOptions, settle: (delivery: Delivery) => void) {
    this.workerId = workerId;
    this.text = text;
    this.options = options;
    this.#settle = settle;
    const cancel = () => {
      if (!this.isTyped) this.settle(CANCELLED);
    };
    if (options.signal?.aborted === true) cancel();
    options.signal?.addEventListener('abort', cancel, { once: true });
  }

  held(reason: HeldReason): void {
    this.options.observer.held(reason);
  }

  /** The text is in the composer; from here on a proof from outside ends the delivery. */
  typed(): void {
    this.isTyped = true;
    this.options.observer.typed(Buffer.byteLength(this.text));
    void this.options.confirmation?.then((proof) => this.settle({ outcome: 'submitted', ...proof }));
  }

  submitted(how = 'the composer emptied and a turn started', evidence: Evidence = 'screen'): void {
    if (!this.isTyped) this.typed();
    this.settle({ outcome: 'submitted', evidence, how });
  }

  unconfirmed(screen: string): void {
    if (!this.isTyped) this.typed();
    this.settle({ outcome: 'unconfirmed', screen });
  }

  refused(reason: string): void {
    this.settle({ outcome: 'refused', reason });
  }

  private settle(delivery: Delivery): void {
    if (this.outcome !== null) return;
    this.outcome = delivery;
    this.#settle(delivery);
  }
}

/** A backend without processes: it keeps what it was asked and says what the test tells it to. */
export class FakeBackend implements TurnBackend {
  readonly name = 'tmux';
  readonly sendings: Sending[] = [];
  readonly labels = new Map<string, string>();
  /** What happens while an agent is being ended: usually its exit is told. */
  onStop: (workerId: string) => void = () => undefined;
  /** Thrown by the next `send`. */
  sendError: Error | null = null;
  readonly #listeners = new Set<(event: BackendEvent) => void>();

  async open(): Promise<{ socket: string | null; live: readonly LiveAgent[] }> {
    return { socket: null, live: [] };
  }

  async start({ workerId }: StartSpec): Promise<StartedAgent> {
    return { workerId, paneId: `%${workerId}`, window: '@0', pid: 1, pidStartedAt: '1' };
  }

  ready(): Promise<void> {
    return Promise.resolve();
  }

  adopt(agent: LiveAgent): Promise<StartedAgent> {
    return Promise.resolve(agent);
  }

  async adoptTurn(): Promise<null> {
    return null;
  }

  async lookBack(): Promise<PastAgent> {
    return { started: false, end: { kind: 'exited', status: null }, outputTail: '', sentinels: [] };
  }

  send(workerId: string, text: string, options: SendOptions): Promise<Delivery> {
    if (this.sendError !== null) return Promise.reject(this.sendError);
    if (this.#underWay(workerId) !== undefined) throw new Error(`two texts at once for ${workerId}`);
    return new Promise((resolve) => {
      this.sendings.push(new Sending(workerId, text, options, resolve));
    });
  }

  /** Every answer that was asked for; the outcome is what `onAnswer` says. */
  readonly answers: (DialogAnswer & { readonly workerId: string })[] = [];
  onAnswer: (answer: DialogAnswer) => Answered | Promise<Answered> = () => ({
    outcome: 'changed',
    shown: null,
  });
  bells = 0;

  async answer(workerId: string, answer: DialogAnswer): Promise<Answered> {
    this.answers.push({ workerId, ...answer });
    return this.onAnswer(answer);
  }

  async bell(): Promise<void> {
    this.bells++;
  }

  /** What every agent shows. */
  screen = '';
  readonly interrupted: string[] = [];

  async read(): Promise<string> {
    return this.screen;
  }

  async interrupt(workerId: string): Promise<void> {
    this.interrupted.push(workerId);
  }

  async stop(workerId: string): Promise<StopResult> {
    this.onStop(workerId);
    return { verified: true, survivors: [] };
  }

  async label(workerId: string, text: string): Promise<void> {
    this.labels.set(workerId, text);
  }

  async status(text: string): Promise<void> {
    this.labels.set('', text);
  }

  async reflow(): Promise<Reflowed> {
    return { perWindow: 5, windows: 1, placed: [] };
  }

  async releaseViewers(): Promise<void> {}

  onEvent(listener: (event: BackendEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {}

  /** What is being sent to the worker. Throws when nothing is. */
  sending(workerId: string): Sending {
    const sending = this.#underWay(workerId);
    if (sending !== undefined) return sending;
    throw new Error(`nothing is on its way to ${workerId}`);
  }

  isSending(workerId: string): boolean {
    return this.#underWay(workerId) !== undefined;
  }

  emit(event: BackendEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  state(
    workerId: string,
    state: Extract<BackendEvent, { type: 'state' }>['state'],
    more: { kind?: WaitingKind; text?: string; dialog?: DialogShown } = {},
  ): void {
    const { kind = null, text = '', dialog = null } = more;
    this.emit({ type: 'state', workerId, state, kind, text, dialog, evidence: 'screen' });
  }

  #underWay(workerId: string): Sending | undefined {
    return this.sendings.find((sending) => sending.workerId === workerId && sending.outcome === null);
  }
}
