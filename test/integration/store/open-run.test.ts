import { afterEach, beforeEach, expect, it } from 'vitest';
import Database from 'better-sqlite3';
import { sampleEvent, SESSION } from '../../support/sample-events.js';
import { createStoreWorld, type StoreWorld } from './harness.js';

let world: StoreWorld;
beforeEach(() => {
  world = createStoreWorld();
});
afterEach(() => world.close());

const queued = (run_id: string, worker_id: string) =>
  sampleEvent('run.queued', { message_id: `message-${run_id}` }, { run_id, worker_id });

it('is the oldest one that is not over, of one worker or of the session', () => {
  const store = world.open();
  store.append(
    sampleEvent('session.created'),
    ...['w01', 'w02'].map((worker_id) => sampleEvent('worker.created', {}, { worker_id })),
  );
  const of = (worker?: string) => store.openRun(SESSION, worker)?.run_id ?? null;
  expect(of()).toBeNull();
  store.append(queued('a', 'w01'), queued('b', 'w02'), queued('c', 'w02'));
  expect([of(), of('w01'), of('w02'), of('w03')]).toEqual(['a', 'a', 'b', null]);
  store.append(sampleEvent('run.succeeded', {}, { run_id: 'a', worker_id: 'w01' }));
  expect([of(), of('w01')]).toEqual(['b', null]);
  store.append(sampleEvent('run.cancelled', {}, { run_id: 'b', worker_id: 'w02' }));
  expect([of(), of('w02')]).toEqual(['c', 'c']);
});

it('takes as long however many are over', () => {
  world.open().close();
  const connection = new Database(world.path);
  const query = `SELECT * FROM runs WHERE session_id = ? AND worker_id = ? AND state IN ('queued', 'running', 'waiting') ORDER BY rowid LIMIT 1`;
  const plan = connection.prepare(`EXPLAIN QUERY PLAN ${query}`).all('s', 'w') as { detail: string }[];
  connection.close();
  expect(plan.map(({ detail }) => detail)).toEqual([
    'SEARCH runs USING INDEX runs_open (session_id=? AND worker_id=?)',
  ]);
});
