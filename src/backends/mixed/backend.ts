import type { Logger } from '../../platform/logger.js';
import type {
  AdoptedTurn,
  Answered,
  Backend,
  BackendEvent,
  Delivery,
  DialogAnswer,
  LabelMore,
  LiveAgent,
  PastAgent,
  Reflowed,
  SendOptions,
  StartedAgent,
  StartSpec,
  StopResult,
  TerminalSize,
  TurnBackend,
  TurnSpec,
} from '../contract.js';
import { isViewer, viewerOf } from './viewer.js';

export interface MixedBackendOptions {
  readonly panes: Backend;
  readonly headless: TurnBackend;
  /** The file in which `headless` keeps, for people, what a worker said. */
  logFile(workerId: string): Promise<string>;
  readonly logger: Logger;
}

/** One session with agents in panes and agents without a terminal, whose panes show what they say. */
export function createMixedBackend(options: MixedBackendOptions): TurnBackend {
  return new MixedBackend(options);
}

class MixedBackend implements TurnBackend {
  readonly name: Backend['name'];
  readonly #panes: Backend;
  readonly #headless: TurnBackend;
  readonly #options: MixedBackendOptions;
  /** Workers without a terminal, and the panes that show them. */
  readonly #viewers = new Map<string, Promise<StartedAgent | null>>();
  #earlierViewers: readonly LiveAgent[] = [];

  constructor(options: MixedBackendOptions) {
    this.#options = options;
    this.#panes = options.panes;
    this.#headless = options.headless;
    this.name = options.panes.name;
  }

  async open(): Promise<{ socket: string | null; live: readonly LiveAgent[] }> {
    const [{ socket, live }] = await Promise.all([this.#panes.open(), this.#headless.open()]);
    this.#earlierViewers = live.filter(({ attemptId }) => isViewer(attemptId));
    return { socket, live: live.filter(({ attemptId }) => !isViewer(attemptId)) };
  }

  start(spec: StartSpec): Promise<StartedAgent> {
    return this.#panes.start(spec);
  }

  ready(workerId: string, signal?: AbortSignal): Promise<void> {
    return this.#of(workerId).ready(workerId, signal);
  }

  adopt(agent: LiveAgent, spec: StartSpec): Promise<StartedAgent> {
    return this.#panes.adopt(agent, spec);
  }

  async adoptTurn(spec: TurnSpec): Promise<AdoptedTurn | null> {
    await this.#view(spec);
    return this.#headless.adoptTurn(spec);
  }

  lookBack(attempt: { workerId: string; attemptId: string; directory: string }): Promise<PastAgent> {
    return this.#panes.lookBack(attempt);
  }

  async send(workerId: string, text: string, options: SendOptions): Promise<Delivery> {
    const { turn } = options;
    if (turn === undefined) return this.#of(workerId).send(workerId, text, options);
    const pane = await this.#view(turn.spec);
    const began = (started: StartedAgent | null) =>
      turn.began(
        started === null ? null : { ...started, paneId: pane?.paneId ?? null, window: pane?.window ?? null },
      );
    return this.#headless.send(workerId, text, { ...options, turn: { ...turn, began } });
  }

  answer(workerId: string, answer: DialogAnswer): Promise<Answered> {
    return this.#of(workerId).answer(workerId, answer);
  }

  read(workerId: string, lines: number): Promise<string> {
    return this.#of(workerId).read(workerId, lines);
  }

  interrupt(workerId: string): Promise<void> {
    return this.#of(workerId).interrupt(workerId);
  }

  stop(workerId: string, options: { graceMs: number }): Promise<StopResult> {
    return this.#of(workerId).stop(workerId, options);
  }

  async label(workerId: string, text: string, more?: LabelMore): Promise<void> {
    if (this.#viewers.has(workerId) && (await this.#viewers.get(workerId)) === null) return;
    await this.#panes.label(workerId, text, more);
  }

  status(text: string): Promise<void> {
    return this.#panes.status(text);
  }

  reflow(terminal: TerminalSize): Promise<Reflowed> {
    return this.#panes.reflow(terminal);
  }

  bell(): Promise<void> {
    return this.#panes.bell();
  }

  releaseViewers(text: string, options: { mayStay: boolean }): Promise<void> {
    return this.#panes.releaseViewers(text, options);
  }

  /** What becomes of a pane that only shows is nothing that becomes of the agent. */
  onEvent(listener: (event: BackendEvent) => void): () => void {
    const ofPanes = this.#panes.onEvent((event) => {
      if (!('workerId' in event) || !this.#viewers.has(event.workerId)) listener(event);
    });
    const ofTurns = this.#headless.onEvent(listener);
    return () => {
      ofPanes();
      ofTurns();
    };
  }

  async close(options: { destroy: boolean }): Promise<void> {
    await this.#headless.close(options);
    await this.#panes.close(options);
  }

  #of(workerId: string): Backend {
    return this.#viewers.has(workerId) ? this.#headless : this.#panes;
  }

  /** Its pane, made with its first turn; null: it could not be made, and the agent works without one. */
  #view(spec: TurnSpec): Promise<StartedAgent | null> {
    const known = this.#viewers.get(spec.workerId);
    if (known !== undefined) return known;
    const made = this.#makeView(spec).catch((error: unknown) => {
      this.#options.logger.warn({ worker: spec.workerId, err: error }, 'no pane to show it in');
      return null;
    });
    this.#viewers.set(spec.workerId, made);
    return made;
  }

  async #makeView(spec: TurnSpec): Promise<StartedAgent> {
    const view = viewerOf(spec, await this.#options.logFile(spec.workerId));
    const earlier = this.#earlierViewers.find(({ workerId }) => workerId === spec.workerId);
    return earlier === undefined ? this.#panes.start(view) : this.#panes.adopt(earlier, view);
  }
}
