import type { Clock } from '../../core/clock.js';

/** Something that happens again and again, to be waited for without missing a beat: remember `count` before looking. */
export class Pulse {
  count = 0;
  private waiting = new Set<() => void>();

  beat(): void {
    this.count++;
    const woken = this.waiting;
    this.waiting = new Set();
    for (const wake of woken) wake();
  }

  /** Resolves at the first beat after `since`, when `limitMs` are over (null: never), or when `signal` aborts. */
  after(
    since: number,
    options: { clock: Clock; limitMs: number | null; signal?: AbortSignal | undefined },
  ): Promise<void> {
    if (this.count !== since || options.signal?.aborted === true) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        this.waiting.delete(wake);
        cancel();
        options.signal?.removeEventListener('abort', wake);
        resolve();
      };
      const cancel =
        options.limitMs === null ? () => undefined : options.clock.after(Math.max(0, options.limitMs), wake);
      this.waiting.add(wake);
      options.signal?.addEventListener('abort', wake, { once: true });
    });
  }
}
