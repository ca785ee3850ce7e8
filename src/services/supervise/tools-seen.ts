import { delay, type Clock } from '../../core/clock.js';

/** Which workers' agents have asked for our tools since they were started. */
export class ToolsSeen {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, () => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** To be called before the agent is started. */
  expect(workerId: string): Promise<void> {
    return new Promise((resolve) => this.#waiting.set(workerId, resolve));
  }

  listed(workerId: string): void {
    this.#waiting.get(workerId)?.();
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
