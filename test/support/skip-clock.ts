import type { Clock } from '../../src/core/clock.js';

export interface SkipClock extends Clock {
  /** Pushes time forward: whatever falls due runs now, in its order. */
  skip(ms: number): void;
}

/** Real time that a test may push forward, for bounds that are too long to sit out. */
export function createSkipClock(): SkipClock {
  let skippedMs = 0;
  const now = () => Date.now() + skippedMs;
  const tasks = new Set<{ readonly dueAt: number; timer: NodeJS.Timeout | null; readonly run: () => void }>();
  return {
    now,
    after(delayMs, task) {
      const entry = {
        dueAt: now() + delayMs,
        timer: null as NodeJS.Timeout | null,
        run: () => {
          cancel();
          task();
        },
      };
      const cancel = () => {
        if (entry.timer !== null) clearTimeout(entry.timer);
        tasks.delete(entry);
      };
      entry.timer = setTimeout(entry.run, delayMs);
      tasks.add(entry);
      return cancel;
    },
    skip(ms) {
      skippedMs += ms;
      const due = [...tasks].filter(({ dueAt }) => dueAt <= now()).sort((a, b) => a.dueAt - b.dueAt);
      for (const entry of due) if (tasks.has(entry)) entry.run();
    },
  };
}
