import type { TurnBackend } from '../../backends/contract.js';
import type { Clock } from '../../core/clock.js';
import type { Engine } from '../engine/engine.js';

/** One that nothing was asked of for so long is looked at: whether its conversation rests. */
const REST_MS = 60_000;

export interface OpenEngine {
  readonly engine: Engine;
  readonly backend: TurnBackend;
}

interface Entry {
  readonly opening: Promise<OpenEngine>;
  open: OpenEngine | null;
  usedAt: number;
}

export interface OpenEnginesDeps {
  readonly clock: Clock;
  open(sessionId: string): Promise<OpenEngine>;
  /** Of those that are open, whoever has something to do. */
  busy(): ReadonlySet<string>;
  /** It is needed no more. */
  leave(sessionId: string, open: OpenEngine): void;
}

/**
 * The engines of conversations, one each while something is asked of it: one that rests costs nothing, the rows bring it
 * back. Nobody holds one over an `await`: what was got before may be another one afterwards.
 */
export class OpenEngines {
  readonly #deps: OpenEnginesDeps;
  readonly #entries = new Map<string, Entry>();
  #cancelSweep: (() => void) | null = null;

  constructor(deps: OpenEnginesDeps) {
    this.#deps = deps;
  }

  async get(sessionId: string): Promise<OpenEngine> {
    const now = this.#deps.clock.now();
    const known = this.#entries.get(sessionId);
    if (known !== undefined) {
      known.usedAt = now;
      return known.opening;
    }
    const entry: Entry = { opening: this.#deps.open(sessionId), open: null, usedAt: now };
    this.#entries.set(sessionId, entry);
    this.#sweepLater();
    try {
      entry.open = await entry.opening;
      return entry.open;
    } catch (error) {
      this.#entries.delete(sessionId);
      throw error;
    }
  }

  /** null: it is not open now. */
  peek(sessionId: string): OpenEngine | null {
    return this.#entries.get(sessionId)?.open ?? null;
  }

  all(): [sessionId: string, opening: Promise<OpenEngine>][] {
    return [...this.#entries].map(([sessionId, { opening }]) => [sessionId, opening]);
  }

  /** Nothing is forgotten any more, and all are left to whoever closes them. */
  clear(): void {
    this.#cancelSweep?.();
    this.#cancelSweep = null;
    this.#entries.clear();
  }

  #sweepLater(): void {
    this.#cancelSweep ??= this.#deps.clock.after(REST_MS, () => {
      this.#cancelSweep = null;
      this.#sweep();
      if (this.#entries.size > 0) this.#sweepLater();
    });
  }

  #sweep(): void {
    const { clock, busy, leave } = this.#deps;
    const before = clock.now() - REST_MS;
    const resting = [...this.#entries].filter(([, { usedAt, open }]) => open !== null && usedAt <= before);
    if (resting.length === 0) return;
    const isBusy = busy();
    for (const [sessionId, { open }] of resting) {
      if (open === null || isBusy.has(sessionId)) continue;
      this.#entries.delete(sessionId);
      leave(sessionId, open);
    }
  }
}
