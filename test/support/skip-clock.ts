import type { Clock } from '../../src/core/clock.js';

export interface SkipClock extends Clock {
  /** Pushes time forward: whatever falls due runs now, in its order. */
  skip(ms: number): void;
  /** Pushes time forward in small steps, each followed by `step`: what falls due early can still act before the end. */
  pass(ms: number, step: () => Promise<unknown>): Promise<void>;
}

const STEP_MS = 200;

/** Real time that a test may push forward, for bounds that are too long to sit out. */
export function createSkipClock(): SkipClock {
  let skippedMs = 0;
  const now = () => Date.now() + skippedMs;
  const tasks = new Set<{ readonly dueAt: number; timer: NodeJS.Timeout | null; readonly run: () => void }>();
  const clock: SkipClock = {
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
    async pass(ms, step) {
      for (let passed = 0; passed < ms; passed += STEP_MS) {
        clock.skip(STEP_MS);
        await step();
      }
    },
  };
  return clock;
}
