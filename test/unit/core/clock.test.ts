import { expect, it } from 'vitest';
import { delay, isoTime, type Clock } from '../../../src/core/clock.js';

function manualClock(): Clock & { pending: Map<() => void, number> } {
  const pending = new Map<() => void, number>();
  return {
    pending,
    now: () => Date.UTC(2026, 0, 2, 3, 4, 5, 6),
    after(delayMs, task) {
      pending.set(task, delayMs);
      return () => pending.delete(task);
    },
  };
}

it('times are ISO with milliseconds', () => {
  expect(isoTime(manualClock())).toBe('2026-01-02T03:04:05.006Z');
});

it('a delay ends when its time has come, and leaves no timer', async () => {
  const clock = manualClock();
  const waiting = delay(clock, 250);
  expect([...clock.pending.values()]).toEqual([250]);
  for (const task of clock.pending.keys()) task();
  await waiting;
  expect(clock.pending.size).toBe(0);
});

it('a delay ends at once when its signal aborts, before or meanwhile, and leaves no timer', async () => {
  const clock = manualClock();
  const controller = new AbortController();
  const waiting = delay(clock, 250, controller.signal);
  controller.abort();
  await waiting;
  await delay(clock, 250, controller.signal);
  expect(clock.pending.size).toBe(0);
});
