import { fork } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, it } from 'vitest';
import { createStoreWorld, type StoreWorld } from '../integration/store/harness.js';
import { compiledModules } from '../support/compiled.js';
import { sampleEvent, SESSION } from '../support/sample-events.js';
import { compare, figure, median, quantile } from './support/rows.js';

const WRITER = fileURLToPath(new URL('support/writer.mjs', import.meta.url));
const PACE = { count: 200, perSecond: 1_000 };
const KILLS = 15;

let world: StoreWorld;
beforeEach(() => {
  world = createStoreWorld();
});
afterEach(() => world.close());

it('[G18] an event appended, at 1,000 a second', async () => {
  const writer = fork(WRITER, [await compiledModules(), world.sandbox.folder('writer')], {
    ...{ env: { PATH: process.env['PATH'] }, execArgv: [] },
  });
  await once(writer, 'message');
  const times = async (who: 'ours' | 'rival') => {
    const answer = once(writer, 'message') as Promise<[number[]]>;
    writer.send({ who, ...PACE });
    return (await answer)[0];
  };
  const all: number[] = [];
  const { ours } = await compare({
    ...{ goal: 'G18', unit: 'µs', what: 'p50 of an event appended at 1,000/s; rival: SQLite’s own journal' },
    target: { atLeast: 30 },
    async ours() {
      const found = await times('ours');
      all.push(...found);
      return median(found);
    },
    rival: async () => median(await times('rival')),
  });
  figure({ goal: 'G18', unit: 'µs', what: 'the same: p50', ours, atMost: 20 });
  figure({ goal: 'G18', unit: 'µs', what: 'the same: p99', ours: quantile(all, 0.99) });
  const ended = once(writer, 'exit');
  writer.disconnect();
  await ended;
});

it('[G18] a writer killed at any moment', async () => {
  const store = world.open();
  store.append(sampleEvent('session.created'));
  const acknowledged: number[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    const child = await world.child();
    const lines = createInterface({ input: child.process.stdout! });
    child.ask('appendForEver', { sessionId: SESSION }).catch(() => undefined);
    const wanted = randomInt(1, 400);
    let seen = 0;
    for await (const line of lines) {
      acknowledged.push(Number(line));
      seen += 1;
      if (seen === wanted) child.process.kill('SIGKILL');
    }
  }
  const kept = store.events({ after: 0, limit: acknowledged.length * 2 + KILLS }).map(({ seq }) => seq);
  const known = new Set(kept);
  const lost = acknowledged.filter((seq) => !known.has(seq)).length;
  const gaps = kept.filter((seq, index) => seq !== index + 1).length;
  const raw = new Database(world.path, { readonly: true });
  const damage = raw.pragma('integrity_check', { simple: true }) === 'ok' ? 0 : 1;
  raw.close();
  const what = `lost or torn of ${acknowledged.length} acknowledged, ${KILLS} writers killed by SIGKILL`;
  const torn = gaps + damage + store.verifyRebuild().length;
  figure({ goal: 'G18', unit: 'events', what, ours: lost + torn, atMost: 0 });
});

it('[G19] many processes write to one database', async () => {
  for (const [writers, all] of [[8, 100_000] as const, [32, 32_000] as const, [64, 32_000] as const]) {
    const children = await Promise.all(Array.from({ length: writers }, () => world.child()));
    const before = world.open().head();
    const began = performance.now();
    // A writer that is refused gives up.
    const done = await Promise.allSettled(
      children.map((child, tag) =>
        child.ask<number[]>('append', { sessionId: SESSION, count: all / writers, tag }),
      ),
    );
    const seconds = (performance.now() - began) / 1_000;
    const kept = world.open().head() - before;
    const acknowledged = done.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    const refused = done.filter(({ status }) => status === 'rejected').length;
    const lost = refused === 0 ? kept - acknowledged.length : 0;
    const what = `of ${all} writes by ${writers} processes at once`;
    figure({
      ...{ goal: 'G19', unit: 'writes', what: `SQLITE_BUSY, or lost, ${what}` },
      ...{ ours: refused + Math.abs(lost), atMost: 0 },
    });
    figure({ goal: 'G19', unit: '/s', what: `the rate ${what}`, ours: kept / seconds });
    await Promise.all(children.map((child) => child.end()));
  }
});
