import type { Clock } from '../core/clock.js';

/** A longer timer of Node's would run at once. */
const LONGEST_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, task) {
    let leftMs = delayMs;
    let timer: NodeJS.Timeout;
    const wait = () => {
      const partMs = Math.min(leftMs, LONGEST_MS);
      leftMs -= partMs;
      timer = setTimeout(() => (leftMs > 0 ? wait() : task()), partMs);
    };
    wait();
    return () => clearTimeout(timer);
  },
};
