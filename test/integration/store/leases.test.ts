import { afterEach, beforeEach, expect, it } from 'vitest';
import { bootId, ownIdentity, processStartTime } from '../../../src/platform/identity.js';
import type { LeaseOwner } from '../../../src/store/contract.js';
import { createStoreWorld, type StoreWorld } from './harness.js';

const SESSION = '3f2a91bc';
let world: StoreWorld;

beforeEach(() => {
  world = createStoreWorld();
});
afterEach(() => world.close());

it('a lease is held until it is released, by the one who holds it', () => {
  const store = world.open();
  const own = ownIdentity();
  const parent = { pid: process.ppid, pidStartedAt: processStartTime(process.ppid) ?? '', bootId: bootId() };
  expect(store.lease(SESSION)).toBe(null);
  expect(store.acquireLease(SESSION, own)).toEqual({ acquired: true });
  expect(store.acquireLease(SESSION, own)).toEqual({ acquired: true });
  expect(store.acquireLease(SESSION, parent)).toEqual({ acquired: false, holder: own });
  expect(store.acquireLease('00000002', parent)).toEqual({ acquired: true });
  store.releaseLease(SESSION, parent);
  expect(store.lease(SESSION)).toEqual(own);
  store.releaseLease(SESSION, own);
  expect(store.acquireLease(SESSION, parent)).toEqual({ acquired: true });
});

it.each<[string, LeaseOwner]>([
  ['whose pid now belongs to another process', { ...ownIdentity(), pidStartedAt: '1' }],
  ['from before the last boot', { ...ownIdentity(), bootId: 'another-boot' }],
  ['whose process is gone', { ...ownIdentity(), pid: 2 ** 22 - 1 }],
])('a holder %s is taken over', (_what, dead) => {
  const store = world.open();
  expect(store.acquireLease(SESSION, dead)).toEqual({ acquired: true });
  const other: LeaseOwner = { ...ownIdentity() };
  expect(store.acquireLease(SESSION, other)).toEqual({ acquired: true });
  expect(store.lease(SESSION)).toEqual(other);
});

it('a process keeps its lease while it lives, stopped or not, and loses it when it is killed', async () => {
  const child = await world.child();
  expect(await child.ask('acquire', { sessionIds: [SESSION] })).toEqual([SESSION]);
  const store = world.open();
  const refused = {
    acquired: false,
    holder: expect.objectContaining({ pid: child.process.pid }) as LeaseOwner,
  };
  expect(store.acquireLease(SESSION, ownIdentity())).toEqual(refused);
  child.process.kill('SIGSTOP');
  expect(store.acquireLease(SESSION, ownIdentity())).toEqual(refused);
  await child.end('SIGKILL');
  expect(store.acquireLease(SESSION, ownIdentity())).toEqual({ acquired: true });
});

it('of processes that race for the leases of a dead one, exactly one gets each', async () => {
  const store = world.open();
  const sessionIds = Array.from({ length: 100 }, (_, index) => index.toString(16).padStart(8, '0'));
  for (const id of sessionIds) store.acquireLease(id, { ...ownIdentity(), pidStartedAt: '1' });
  const children = await Promise.all([world.child(), world.child(), world.child()]);
  await Promise.all(children.map((child) => child.ask('open')));
  const orders = [
    sessionIds,
    [...sessionIds].reverse(),
    [...sessionIds.slice(50), ...sessionIds.slice(0, 50)],
  ];
  const won = await Promise.all(
    children.map((child, index) => child.ask<string[]>('acquire', { sessionIds: orders[index] })),
  );
  expect(won.flat().sort()).toEqual(sessionIds);
  won.forEach((ids, index) =>
    ids.forEach((id) => expect(store.lease(id)?.pid).toBe(children[index]?.process.pid)),
  );
});
