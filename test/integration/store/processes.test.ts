import { randomInt } from 'node:crypto';
import { createInterface } from 'node:readline';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { OrchestratorError } from '../../../src/core/errors/error.js';
import { sampleEvent, sampleRun, SESSION } from '../../support/sample-events.js';
import { createStoreWorld, type StoreWorld } from './harness.js';

const MINUTES = 60_000;
let world: StoreWorld;

beforeEach(() => {
  world = createStoreWorld();
});
afterEach(() => world.close());

const numbers = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

it(
  '[G19][C-61] eight processes open a new file together and append 500 events each: all of them, once, without gaps',
  async () => {
    const children = await Promise.all(Array.from({ length: 8 }, () => world.child()));
    const acknowledged = await Promise.all(
      children.map((child, tag) => child.ask<number[]>('append', { sessionId: SESSION, count: 500, tag })),
    );
    expect(acknowledged.flat().sort((left, right) => left - right)).toEqual(numbers(1, 4_000));
    const store = world.open();
    const events = store.events({ after: 0, limit: 5_000 });
    expect(events.map((event) => event.seq)).toEqual(numbers(1, 4_000));
    const messages = events.map((event) => (event.data as { message: string }).message);
    expect(new Set(messages).size).toBe(4_000);
    acknowledged.forEach((own, tag) =>
      own.forEach((seq, index) => expect(messages[seq - 1]).toBe(`${tag}-${index}`)),
    );
  },
  MINUTES,
);

it(
  '[C-61] forty files that do not exist yet are each opened by six processes at the same time',
  async () => {
    const paths = numbers(1, 40).map((number) => `${world.sandbox.folder('many')}/${number}.db`);
    const children = await Promise.all(Array.from({ length: 6 }, () => world.child()));
    await Promise.all(children.map((child) => child.ask('openFiles', { paths })));
    for (const path of paths) expect(world.open({ path }).head()).toBe(0);
  },
  MINUTES,
);

it(
  '[C-61] a writer killed at any moment loses nothing it acknowledged, and leaves rows that equal their log',
  async () => {
    const store = world.open();
    store.append(sampleEvent('session.created'));
    for (let round = 0; round < 6; round += 1) {
      const child = await world.child();
      const seen: number[] = [];
      const goal = randomInt(1, 400);
      const lines = createInterface({ input: child.process.stdout! });
      child.ask('appendForEver', { sessionId: SESSION }).catch(() => undefined);
      for await (const line of lines) {
        seen.push(Number(line));
        if (seen.length === goal) await child.end('SIGKILL');
      }
      expect(seen.length).toBeGreaterThanOrEqual(goal);
      const kept = new Set(store.events({ after: 0, limit: 100_000 }).map((event) => event.seq));
      expect(seen.filter((seq) => !kept.has(seq))).toEqual([]);
      expect([...kept]).toEqual(numbers(1, store.head()));
    }
    expect(store.verifyRebuild()).toEqual([]);
    const raw = new Database(world.path, { readonly: true });
    expect(raw.pragma('integrity_check', { simple: true })).toBe('ok');
    raw.close();
  },
  MINUTES,
);

it(
  '[C-61] a write lock that is held for longer than 5 s gives STORE_UNAVAILABLE, and nothing is half done',
  async () => {
    const store = world.open();
    store.append(sampleEvent('session.created'));
    const holder = await world.child();
    await holder.ask('holdWriteLock');
    const failure = caught(() => store.append(sampleEvent('goal.failed')));
    expect(failure).toBeInstanceOf(OrchestratorError);
    expect(failure).toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('write lock') as string,
    });
    expect(store.session(SESSION)?.verdict).toBe(null);
    await holder.ask('letGo');
    expect(store.append(sampleEvent('goal.failed')).map((event) => event.seq)).toEqual([2]);
    expect(store.verifyRebuild()).toEqual([]);
  },
  MINUTES,
);

it('opening while another process holds the write lock succeeds, since the schema is there', async () => {
  world.open().append(sampleEvent('session.created'));
  const holder = await world.child();
  await holder.ask('holdWriteLock');
  expect(world.open().head()).toBe(1);
  await holder.ask('letGo');
});

it('of two processes that end the same runs, exactly one ends each', async () => {
  const store = world.open();
  const runIds = Array.from({ length: 60 }, (_, index) => `run-${index}`);
  store.append(...sampleRun('run-0'));
  for (const run_id of runIds.slice(1)) store.append(sampleEvent('run.queued', {}, { run_id }));
  const children = await Promise.all([world.child(), world.child()]);
  await Promise.all(children.map((child) => child.ask('open')));
  const ended = await Promise.all([
    children[0].ask<string[]>('settle', { runIds, event: sampleEvent('run.succeeded') }),
    children[1].ask<string[]>('settle', { runIds: [...runIds].reverse(), event: sampleEvent('run.failed') }),
  ]);
  expect(ended.flat().sort()).toEqual([...runIds].sort());
  const states = store.runs(SESSION).map((run) => [run.run_id, run.state]);
  expect(states).toEqual(runIds.map((id) => [id, ended[0].includes(id) ? 'succeeded' : 'failed']));
  expect(store.verifyRebuild()).toEqual([]);
});

it('a transaction is synced to the disk before it is acknowledged exactly when it holds a synced event', async () => {
  const child = await world.child();
  const [created, ...rest] = sampleRun();
  const ended = sampleEvent('run.succeeded');
  const transactions = [
    [created],
    rest,
    [sampleEvent('worker.idle')],
    [sampleEvent('worker.working'), ended],
    [],
    [sampleEvent('worker.idle')],
  ];
  expect(await child.ask('countSyncs', { transactions })).toEqual([1, 1, 0, 1, 0, 0]);
});

function caught(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
