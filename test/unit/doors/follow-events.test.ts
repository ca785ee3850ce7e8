import { describe, expect, it } from 'vitest';
import type { EphemeralEvent, StoredEvent } from '../../../src/core/events/index.js';
import { followEvents, type EventFeed, type EventSink } from '../../../src/doors/shared/follow-events.js';
import { createFakeClock } from '../../support/fake-clock.js';

const eventAt = (seq: number, session_id = 's') =>
  ({ seq, type: 'progress.reported', session_id }) as StoredEvent;

/** A log that says how often and how far it was read. */
function createFeed(length: number, sessionOf = (_seq: number) => 's') {
  const log = Array.from({ length }, (_, index) => eventAt(index + 1, sessionOf(index + 1)));
  const listeners = new Set<(event: StoredEvent) => void>();
  const read: number[] = [];
  const feed: EventFeed = {
    head: () => log.length,
    events({ after, limit, sessionIds }) {
      const wanted = log.filter(({ session_id: id }) => sessionIds?.includes(id) ?? true);
      const page = wanted.filter(({ seq }) => seq > after).slice(0, limit);
      read.push(page.length);
      return page;
    },
    subscribe(after, listener) {
      if (after !== log.length) throw new Error(`subscribed at ${after} of ${log.length}`);
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const append = () => {
    const event = eventAt(log.length + 1);
    log.push(event);
    for (const listener of listeners) listener(event);
  };
  return { feed, append, read, listeners };
}

/** Takes as many as there is room for. */
function createSink(room: number) {
  const seen: (number | string)[] = [];
  const free = { room };
  let resume: (() => void) | null = null;
  const take = (what: number | string) => {
    seen.push(what);
    free.room -= 1;
    return free.room > 0;
  };
  const sink: EventSink = {
    event: ({ seq }) => take(seq ?? 'ephemeral'),
    caughtUp: (cursor) => take(`caught up ${cursor}`),
    beat: () => take('beat'),
    stuck: (cursor) => seen.push(`stuck ${cursor}`),
    onceDrained: (go) => (resume = go),
  };
  const drain = (more: number) => {
    free.room = more;
    const go = resume;
    resume = null;
    go?.();
  };
  return { sink, seen, drain };
}

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

describe('following events', () => {
  it.each([1, 2, 3, 7, 99, 100, 101, 250])(
    'brings each once and in order to a reader with room for %i at a time',
    async (room) => {
      const clock = createFakeClock();
      const { feed, append, read } = createFeed(250);
      const { sink, seen, drain } = createSink(room);
      const end = followEvents({ feed, clock, after: 5 }, sink);
      for (let turn = 0; turn < 600; turn += 1) {
        if (turn % 10 === 0) append();
        await clock.advance(0);
        drain(room);
        expect(clock.pending()).toBe(1);
      }
      expect(seen.filter((what) => typeof what === 'number')).toEqual(numbers(6, 310));
      expect(seen.indexOf('caught up 250')).toBe(seen.indexOf(250) + 1);
      expect(seen.filter((what) => typeof what === 'string')).toEqual(['caught up 250']);
      // What was read once is not read again because the reader is slow.
      expect(read.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(310);
      end();
      expect(clock.pending()).toBe(0);
    },
  );

  it.each([1, 3, 100, 1_000])(
    'of one session reads no other’s from the log, and is caught up all the same (room for %i)',
    async (room) => {
      const clock = createFakeClock();
      const { feed, append, read } = createFeed(2_005, (seq) => (seq % 10 === 0 ? 'mine' : 's'));
      const { sink, seen, drain } = createSink(room);
      const mine = {
        ...sink,
        event: (event: StoredEvent | EphemeralEvent) => event.session_id !== 'mine' || sink.event(event),
      };
      followEvents({ feed, clock, after: 0, only: () => ['mine'] }, mine);
      for (let turn = 0; turn < 900; turn += 1) {
        if (turn % 100 === 0) append();
        await clock.advance(0);
        drain(room);
      }
      expect(seen.filter((what) => typeof what === 'number')).toEqual(
        numbers(1, 200).map((number) => number * 10),
      );
      expect(seen.filter((what) => typeof what === 'string')).toHaveLength(1);
      expect(read.reduce((sum, one) => sum + one, 0)).toBe(200);
    },
  );

  it('brings what comes once to a reader that was full and free again between two pages', async () => {
    const timers: (() => void)[] = [];
    const clock = { now: () => 0, after: (_ms: number, task: () => void) => (timers.push(task), () => {}) };
    const { feed, append, listeners } = createFeed(150);
    const { sink, seen, drain } = createSink(101);
    followEvents({ feed, clock, after: 0 }, sink);
    // The first page left room for one, which a heartbeat takes before the second is read.
    timers.at(-1)?.();
    drain(1_000);
    await new Promise((turn) => setImmediate(turn));
    append();
    expect(listeners.size).toBe(1);
    expect(seen.filter((what) => typeof what === 'number')).toEqual(numbers(1, 151));
  });

  it('that is idle beats every 15 s, and is not over when all was read', async () => {
    const clock = createFakeClock();
    const { feed, append } = createFeed(0);
    const { sink, seen } = createSink(1_000);
    followEvents({ feed, clock, after: 0 }, sink);
    await clock.advance(14_999);
    expect(seen).toEqual(['caught up 0']);
    await clock.advance(30_001);
    append();
    expect(seen).toEqual(['caught up 0', 'beat', 'beat', 'beat', 1]);
  });

  it('[C-62] into what stays full for 30 s ends there: no listener, no timer, nothing kept', async () => {
    const clock = createFakeClock();
    const { feed, append, listeners } = createFeed(3);
    const { sink, seen, drain } = createSink(5);
    followEvents({ feed, clock, after: 0 }, sink);
    await clock.advance(0);
    append();
    append();
    expect(listeners.size).toBe(0);
    await clock.advance(29_999);
    expect(seen).toEqual([1, 2, 3, 'caught up 3', 4]);
    await clock.advance(1);
    expect(seen.at(-1)).toBe('stuck 4');
    drain(100);
    append();
    await clock.advance(60_000);
    expect(seen.at(-1)).toBe('stuck 4');
    expect([clock.pending(), listeners.size]).toEqual([0, 0]);
  });

  it('stops for a heartbeat that finds no room, and goes on when there is some', async () => {
    const clock = createFakeClock();
    const { feed, append } = createFeed(0);
    const { sink, seen, drain } = createSink(2);
    followEvents({ feed, clock, after: 0 }, sink);
    await clock.advance(15_000);
    append();
    expect(seen).toEqual(['caught up 0', 'beat']);
    drain(10);
    expect(seen).toEqual(['caught up 0', 'beat', 1]);
    expect(clock.pending()).toBe(1);
  });
});
