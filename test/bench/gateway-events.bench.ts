import { afterAll, beforeAll, it } from 'vitest';
import { Bare } from './support/bare.js';
import { cpuOf } from './support/cpu.js';
import { BenchDaemon, delayOf } from './support/daemon.js';
import { compare, figure, median, quantile } from './support/rows.js';

const MANY = 4_000;
const PACED = 100;
const paced = (lines: number) => `lines ${lines} every 10 ms of 100 bytes`;
const flood = (lines: number) => `lines ${lines} every 0 ms of 100 bytes`;

let daemon: BenchDaemon;
let bare: Bare;
beforeAll(async () => {
  daemon = await BenchDaemon.start();
  bare = await Bare.start(daemon.folder);
});
afterAll(async () => {
  await bare.close();
  await daemon.close();
});

/** What so many readers of one agent's lines see, µs for each line and reader. */
async function delays(count: number, prompt: string, stuck = 0): Promise<number[]> {
  const session = await daemon.session();
  const found: number[] = [];
  const readers: { over: Promise<void> }[] = [];
  for (let reader = 0; reader < stuck; reader++) await daemon.stuck(session);
  for (let reader = 0; reader < count; reader++)
    readers.push(
      await daemon.stream(session, (line, at) => {
        const delay = delayOf(line, at);
        if (delay !== null) found.push(delay);
      }),
    );
  await daemon.say(session, prompt);
  await Promise.all(readers.map(({ over }) => over));
  daemon.hangUp();
  return found;
}

it('[G20] an agent that speaks as fast as it can', async () => {
  await compare({
    ...{ goal: 'G20', unit: 'µs', what: 'CPU per line to one reader; rival: readline, parse, append' },
    target: { atMost: 0.5 },
    async ours() {
      const before = cpuOf(daemon.pid);
      await delays(1, flood(MANY));
      return ((cpuOf(daemon.pid) - before) * 1_000) / MANY;
    },
    async rival() {
      const { cpuUs } = await bare.relay(flood(MANY), true);
      return cpuUs / MANY;
    },
  });
});

it('[G20] 100 lines a second', async () => {
  const added: number[] = [];
  const pipes: number[] = [];
  for (let round = 0; round < 15; round++) {
    const ours = median(await delays(1, paced(PACED)));
    const pipe = median((await bare.relay(paced(PACED), false)).delays);
    added.push((ours - pipe) / 1_000);
    pipes.push(pipe / 1_000);
  }
  const what = 'p50 added from an agent’s line to a reader; rival: the pipe alone';
  figure({ goal: 'G20', what, unit: 'ms', ours: median(added), rival: median(pipes), atMost: 0.4 });
});

it('[G21] one reader that stopped, and 63 good ones', async () => {
  await compare({
    ...{ goal: 'G21', unit: 'ms', what: 'p99 of 63 readers beside one that stopped; rival: without it' },
    target: { atMost: 1.2 },
    ours: async () => quantile(await delays(63, paced(PACED), 1), 0.99) / 1_000,
    rival: async () => quantile(await delays(63, paced(PACED)), 0.99) / 1_000,
  });
});

it('from an agent’s line to a reader, with 1 and 100 readers', async () => {
  for (const count of [1, 100]) {
    const found = await delays(count, paced(3 * PACED));
    for (const [name, part] of [['p50', 0.5] as const, ['p99', 0.99] as const]) {
      const ours = quantile(found, part) / 1_000;
      figure({ goal: 'events', what: `${name} from an agent’s line to ${count} readers`, unit: 'ms', ours });
    }
  }
});
