/** A turn that wants to run. */
export interface SlotRequest {
  readonly runId: string;
  /** Smaller came first. */
  readonly order: number;
  /** The runs that asked for it, nearest first. */
  readonly ancestors: readonly string[];
}

interface Waiting extends SlotRequest {
  readonly start: (started: boolean) => void;
}

/**
 * Places for turns that run at once, given in the order in which they were asked for. A run whose ancestor holds a place
 * may begin beyond the number, one for each ancestor: an ancestor that waits for it would otherwise keep it from ever
 * beginning.
 */
export class Slots {
  readonly #size: number;
  /** Holder → the ancestor on whose account it runs beyond the number; null: in a place of its own. */
  readonly #held = new Map<string, string | null>();
  #queue: Waiting[] = [];
  #draining = false;
  #onEmpty: (() => void)[] = [];

  constructor(size: number) {
    if (!(size >= 1)) throw new Error(`a pool needs at least one place, not ${size}`);
    this.#size = size;
  }

  get size(): number {
    return this.#size;
  }

  /** The runs that hold a place, or run beyond the number. */
  get running(): readonly string[] {
    return [...this.#held.keys()];
  }

  /** Resolves with true once the run has a place; false when `signal` aborted before that. */
  take(request: SlotRequest, signal: AbortSignal): Promise<boolean> {
    if (this.#held.has(request.runId)) return Promise.resolve(true);
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const leave = () => {
        this.#queue = this.#queue.filter((other) => other !== waiting);
        resolve(false);
      };
      const waiting: Waiting = {
        ...request,
        start: (started) => {
          signal.removeEventListener('abort', leave);
          resolve(started);
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#queue = [...this.#queue, waiting].sort((one, other) => one.order - other.order);
      this.#fill();
    });
  }

  /** It runs already: begun by an earlier supervisor. */
  hold(runId: string): void {
    this.#held.set(runId, null);
  }

  /** Its turn is over; safe to call for one that holds none. */
  give(runId: string): void {
    if (!this.#held.delete(runId)) return;
    this.#fill();
    if (this.#held.size === 0) for (const done of this.#onEmpty.splice(0)) done();
  }

  /** Nothing begins any more; resolves when what runs has ended. What waits goes on waiting, in the store as well. */
  drain(): Promise<void> {
    this.#draining = true;
    return this.#held.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#onEmpty.push(resolve));
  }

  #fill(): void {
    if (this.#draining) return;
    for (const waiting of [...this.#queue]) {
      const place = this.#placeFor(waiting);
      if (place === undefined) continue;
      this.#queue = this.#queue.filter((other) => other !== waiting);
      this.#held.set(waiting.runId, place);
      waiting.start(true);
    }
  }

  #placeFor({ ancestors }: Waiting): string | null | undefined {
    const ofTheirOwn = [...this.#held.values()].filter((account) => account === null).length;
    if (ofTheirOwn < this.#size) return null;
    const taken = new Set(this.#held.values());
    return ancestors.find((ancestor) => this.#held.has(ancestor) && !taken.has(ancestor));
  }
}
