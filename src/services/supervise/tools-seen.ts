import { delay, type Clock } from '../../core/clock.js';

/** Which workers' agents have asked for our tools since they were started. */
export class ToolsSeen {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, { seen: Promise<void>; resolve: () => void }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** To be called before the agent is started. */
  expect(workerId: string): Promise<void> {
    let resolve: () => void = () => undefined;
    const seen = new Promise<void>((resolveSeen) => (resolve = resolveSeen));
    this.#waiting.set(workerId, { seen, resolve });
    return seen;
  }

  /** null: it has, or was not started here. */
  awaited(workerId: string): Promise<void> | null {
    return this.#waiting.get(workerId)?.seen ?? null;
  }

  listed(workerId: string): void {
    this.#waiting.get(workerId)?.resolve();
    this.#waiting.delete(workerId);
  }

  /** false: not within the limit. */
  async within(seen: Promise<void>, limitMs: number): Promise<boolean> {
    const over = new AbortController();
    const limit = delay(this.#clock, limitMs, over.signal).then(() => false);
    const answer = await Promise.race([seen.then(() => true), limit]);
    over.abort();
    return answer;
  }
}
