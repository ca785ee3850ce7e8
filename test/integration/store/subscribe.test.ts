import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Clock } from '../../../src/core/clock.js';
import type { EphemeralEvent, StoredEvent } from '../../../src/core/events/index.js';
import { systemClock } from '../../../src/platform/clock.js';
import type { Store } from '../../../src/store/contract.js';
import { sampleEvent, SESSION } from '../../support/sample-events.js';
import { createStoreWorld, type StoreWorld } from './harness.js';

type Event = StoredEvent | EphemeralEvent;

/** Leaves out the slow safety re-read, so that what arrives was noticed by watching alone. */
const watchOnly: Clock = {
  now: () => Date.now(),
  after: (delayMs, task) => (delayMs < 10_000 ? systemClock.after(delayMs, task) : () => {}),
};

let world: StoreWorld;

beforeEach(() => {
  world = createStoreWorld();
});
afterEach(() => world.close());

const numbers = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);
const seqs = (events: readonly Event[]) => events.map((event) => event.seq);

function fill(store: Store, count: number): void {
  store.transaction((tx) => {
    for (let index = 0; index < count; index += 1)
      tx.append(sampleEvent('progress.reported', { message: `${index}` }));
  });
}

/** Everything after `after` until `last` has come. */
function collect(store: Store, after: number, last: number): Promise<number[]> {
  return new Promise((resolve) => {
    const seen: number[] = [];
    const stop = store.subscribe(after, (event) => {
      if (event.seq === null) return;
      seen.push(event.seq);
      if (event.seq < last) return;
      stop();
      resolve(seen);
    });
  });
}

it('[C-62] replays the log from any index, exactly once and in order, however many pages it takes', async () => {
  const store = world.open();
  fill(store, 450);
  for (const after of numbers(0, 449))
    expect(await collect(store, after, 450)).toEqual(numbers(after + 1, 450));
});

it('[C-62] a reader that reconnects after every event sees events of another process once and in order', async () => {
  const store = world.open({ clock: watchOnly });
  const child = await world.child();
  const seen: number[] = [];
  const all = new Promise<void>((resolve) => {
    const connect = (after: number) => {
      const stop = store.subscribe(after, (event) => {
        stop();
        seen.push(event.seq ?? 0);
        if (event.seq === 300) resolve();
        else connect(event.seq ?? 0);
      });
    };
    connect(0);
  });
  await child.ask('append', { sessionId: SESSION, count: 300, tag: 'c' });
  await all;
  expect(seen).toEqual(numbers(1, 300));
});

it('[C-62] every single commit of another process is noticed by watching, without any re-read', async () => {
  const store = world.open({ clock: watchOnly });
  store.append(sampleEvent('session.created'));
  const child = await world.child();
  const seen: number[] = [];
  let arrived = () => {};
  store.subscribe(1, (event) => {
    seen.push(event.seq ?? 0);
    arrived();
  });
  for (let round = 0; round < 500; round += 1) {
    const next = new Promise<void>((resolve) => (arrived = resolve));
    await Promise.all([child.ask('append', { sessionId: SESSION, count: 1, tag: `${round}` }), next]);
  }
  expect(seen).toEqual(numbers(2, 501));
});

it('[C-62] three readers and two writing processes, one of them this one: all readers see the same whole order', async () => {
  const store = world.open({ clock: watchOnly });
  store.append(sampleEvent('session.created'));
  const readers = [
    collect(store, 0, 401),
    collect(store, 1, 401),
    collect(world.open({ clock: watchOnly }), 0, 401),
  ];
  const child = await world.child();
  const theirs = child.ask('append', { sessionId: SESSION, count: 200, tag: 'c' });
  for (const index of numbers(1, 200)) {
    store.append(sampleEvent('progress.reported', { message: `${index}` }));
    if (index % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await theirs;
  expect(await Promise.all(readers)).toEqual([numbers(1, 401), numbers(2, 401), numbers(1, 401)]);
});

it('commits of this process are published when they are committed, in order, and never when they are rolled back', () => {
  const store = world.open();
  const seen: number[] = [];
  store.subscribe(0, (event) => void seen.push(event.seq ?? 0));
  store.transaction((tx) => {
    tx.append(sampleEvent('session.created'), sampleEvent('worker.created'));
    tx.append(sampleEvent('worker.working'));
    expect(seen).toEqual([]);
  });
  expect(seen).toEqual([1, 2, 3]);
  expect(() =>
    store.transaction((tx) => {
      tx.append(sampleEvent('worker.idle'));
      throw new Error('no');
    }),
  ).toThrow('no');
  store.append(sampleEvent('worker.exited'));
  expect(seen).toEqual([1, 2, 3, 4]);
  expect(store.events({ after: 3, limit: 9 }).map((event) => event.type)).toEqual(['worker.exited']);
});

it.each([1, 3])(
  'what a listener appends comes after what it is being told, for every listener (%i at once)',
  async (count) => {
    const store = world.open();
    const first: number[] = [];
    const second: number[] = [];
    store.subscribe(0, (event) => {
      if (event.seq !== null && event.seq < 20) store.append(sampleEvent('progress.reported'));
      // Noted last: an event delivered inside the append above would be noted before this one.
      first.push(event.seq ?? 0);
    });
    store.subscribe(0, (event) => void second.push(event.seq ?? 0));
    store.append(...Array.from({ length: count }, () => sampleEvent('progress.reported')));
    await vi.waitFor(() => expect(second.at(-1)).toBe(19 + count));
    expect(first).toEqual(numbers(1, 19 + count));
    expect(second).toEqual(numbers(1, 19 + count));
  },
);

it('what a listener appends while it reads the past follows at once', async () => {
  const store = world.open();
  fill(store, 3);
  const seen: Event[] = [];
  store.subscribe(0, (event) => {
    seen.push(event);
    if (event.seq === 3) store.append(sampleEvent('progress.reported'));
  });
  // Microtasks only: the watch, which would find it too, needs the event loop.
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  expect(seqs(seen)).toEqual([1, 2, 3, 4]);
});

it('a listener that throws neither fails the commit nor keeps an event from the others', () => {
  const store = world.open();
  const seen: Event[] = [];
  store.subscribe(0, () => {
    throw new Error('broken listener');
  });
  store.subscribe(0, (event) => void seen.push(event));
  store.append(sampleEvent('session.created'));
  store.append(sampleEvent('session.paused'));
  expect(seqs(seen)).toEqual([1, 2]);
});

it('nothing comes after unsubscribing, not even the rest of the same commit', async () => {
  const store = world.open();
  const seen: Event[] = [];
  const stop = store.subscribe(0, (event) => {
    seen.push(event);
    stop();
  });
  store.append(sampleEvent('session.created'), sampleEvent('session.paused'));
  store.append(sampleEvent('session.resumed'));
  const stopAtOnce = store.subscribe(0, (event) => void seen.push(event));
  stopAtOnce();
  expect(await collect(store, 0, 3)).toEqual([1, 2, 3]);
  expect(seqs(seen)).toEqual([1]);
});

it('ephemeral events reach subscribers of this process and are never stored', async () => {
  const store = world.open();
  const other = world.open();
  store.append(sampleEvent('session.created'));
  const seen: Event[] = [];
  const elsewhere: Event[] = [];
  store.subscribe(0, (event) => void seen.push(event));
  other.subscribe(0, (event) => void elsewhere.push(event));
  const { type, session_id, source, evidence, data } = sampleEvent('text.delta', { text: 'wri' });
  store.publish({ type, session_id, source, evidence, data });
  store.append(sampleEvent('session.paused'));
  expect(seen.map((event) => [event.seq, event.type])).toEqual([
    [1, 'session.created'],
    [null, 'text.delta'],
    [2, 'session.paused'],
  ]);
  await vi.waitFor(() => expect(seqs(elsewhere)).toEqual([1, 2]));
  expect(store.head()).toBe(2);
});

it('durable events cannot be published without being stored, nor ephemeral ones appended or published half-way', () => {
  const store = world.open();
  const publish = (event: unknown) => store.publish(event as Parameters<Store['publish']>[0]);
  expect(() => publish(sampleEvent('session.created'))).toThrow('durable');
  expect(() => store.append(sampleEvent('screen.changed'))).toThrow('ephemeral');
  expect(() => store.transaction(() => publish(sampleEvent('text.delta')))).toThrow('transaction');
  expect(store.head()).toBe(0);
});

it('a commit that the watch missed is found by the slow re-read, whose timer exists only while somebody listens', async () => {
  const timers = new Map<() => void, number>();
  const clock: Clock = {
    now: () => 0,
    after(delayMs, task) {
      timers.set(task, delayMs);
      return () => timers.delete(task);
    },
  };
  const writer = world.open();
  writer.append(sampleEvent('session.created'));
  const store = world.open({ clock });
  expect(timers.size).toBe(0);
  const seen: Event[] = [];
  const stop = store.subscribe(1, (event) => void seen.push(event));
  expect([...timers.values()].every((delayMs) => delayMs >= 10_000)).toBe(true);
  const [reread] = timers.keys();
  timers.clear();
  writer.append(sampleEvent('session.paused'));
  reread?.();
  // Microtasks only: the watch, which needs the event loop, cannot have told it.
  await Promise.resolve();
  expect(seqs(seen)).toEqual([2]);
  expect(timers.size).toBe(1);
  stop();
  expect(timers.size).toBe(0);
});
