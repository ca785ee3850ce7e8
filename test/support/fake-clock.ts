import type { Clock } from '../../src/core/clock.js';

export interface FakeClock extends Clock {
  /** Lets time pass: what falls due runs at its own time and in its order; what it sets off gets its turn in between. */
  advance(ms: number): Promise<void>;
  /** Timers that are set and not cancelled. */
  pending(): number;
}

export const FAKE_START = Date.UTC(2026, 0, 1);

/** Time that stands still unless a test moves it. */
export function createFakeClock(start = FAKE_START): FakeClock {
  let now = start;
  const timers = new Set<{ readonly dueAt: number; readonly run: () => void }>();
  const nextDue = (until: number) =>
    [...timers].filter((timer) => timer.dueAt <= until).sort((a, b) => a.dueAt - b.dueAt)[0];
  return {
    now: () => now,
    after(delayMs, task) {
      const timer = { dueAt: now + Math.max(0, delayMs), run: task };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    async advance(ms) {
      const until = now + ms;
      await turnOver();
      for (let timer = nextDue(until); timer !== undefined; timer = nextDue(until)) {
        timers.delete(timer);
        now = timer.dueAt;
        timer.run();
        await turnOver();
      }
      now = until;
    },
    pending: () => timers.size,
  };
}

/** Everything that is ready to run has run. */
function turnOver(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
