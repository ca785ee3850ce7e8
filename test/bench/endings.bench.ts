import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, it } from 'vitest';
import { killServer } from '../../src/backends/tmux/attach.js';
import { connectControlClient } from '../../src/backends/tmux/control-client.js';
import type { ControlClient } from '../../src/backends/tmux/types.js';
import type { TmuxWorld } from '../support/tmux.js';
import { compare, figure, median, quantile } from './support/rows.js';
import { CROWDS, monotonicMs, openWorld, QUIET, workerNames } from './support/tmux.js';

const BATCH = 60;
const READS = 'read line < "$0"; exit 5';
const SLEEPS = ['sh', '-c', 'exec sleep 600'];
/** What each of a batch is ended with, in turn, and the status that is to be known of it. */
const WAYS = [
  { argv: ['sh', '-c', READS], signal: null, status: 5 },
  { argv: SLEEPS, signal: 'SIGKILL', status: 137 },
  { argv: SLEEPS, signal: 'SIGTERM', status: 143 },
] as const;

let world: TmuxWorld;
let count = 0;
const all: number[] = [];
let right = 0;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.sandbox.close());

/** When the backend tells that this worker ended, and its status. */
function told(workerId: string): Promise<{ at: number; status: number | null }> {
  return new Promise((resolve) => {
    const stop = world.backend.onEvent((event) => {
      if (event.type !== 'exited' || event.workerId !== workerId) return;
      stop();
      resolve({ at: monotonicMs(), status: event.status });
    });
  });
}

/** Starts a batch, ends one after the other; resolves with the middle of the times until a status is told. */
async function endBatch(): Promise<number> {
  const { backend } = world;
  const started = await Promise.all(
    Array.from({ length: BATCH }, async (_, index) => {
      const way = WAYS[index % WAYS.length] ?? WAYS[0];
      const fifo = join(world.sandbox.root, `fifo-${++count}`);
      if (way.signal === null) execFileSync('sh', ['-c', 'mkfifo "$0"', fifo]);
      const { workerId, pid } = await backend.start(world.spec(`e${count}`, [...way.argv, fifo]));
      return { ...way, workerId, pid, fifo };
    }),
  );
  const times: number[] = [];
  for (const { workerId, pid, fifo, signal, status } of started) {
    const end = told(workerId);
    const began = monotonicMs();
    if (signal === null) writeFileSync(fifo, '\n');
    else process.kill(pid, signal);
    const { at, status: known } = await end;
    times.push(at - began);
    if (known === status) right++;
  }
  all.push(...times);
  return median(times);
}

/** The rival: tmux's own subscription tells it, within its second. */
async function bySubscription(client: ControlClient): Promise<number> {
  const [pane = ''] = await client.command('new-window', '-d', '-P', '-F', '#{pane_id} #{pane_pid}', 'cat');
  const [paneId = '', pid = ''] = pane.split(' ');
  await client.command('set-option', '-p', '-t', paneId, 'remain-on-exit', 'on');
  await client.command('refresh-client', '-B', 'dead:%*:#{pane_dead}');
  const dead = new Promise<number>((resolve) => {
    client.onNotification((line) => {
      if (
        line.startsWith(`subscription-changed dead `) &&
        line.includes(` ${paneId} `) &&
        line.endsWith(': 1')
      )
        resolve(monotonicMs());
    });
  });
  const began = monotonicMs();
  process.kill(Number(pid), 'SIGTERM');
  return (await dead) - began;
}

it('[G12] how it ended', async () => {
  const client = await connectControlClient({
    ...{ socketName: 'rival', configFile: '/dev/null', env: world.sandbox.env },
    initial: ['new-session', 'cat'],
  });
  try {
    await compare({
      ...{ goal: 'G12', unit: 'ms', target: { atLeast: 300 } },
      what: 'end of a program → its status told; rival: a subscription to pane_dead',
      ours: endBatch,
      rival: () => bySubscription(client),
    });
  } finally {
    await killServer({ socketName: 'rival', env: world.sandbox.env });
    await client.closed;
  }
  figure({ goal: 'G12', unit: 'ms', what: 'the same, p50', ours: median(all), atMost: 1.5 });
  figure({ goal: 'G12', unit: 'ms', what: 'the same, p99', ours: quantile(all, 0.99) });
  figure({
    ...{ goal: 'G12', unit: 'wrong', what: `of ${all.length} statuses, a third of them after SIGKILL` },
    ...{ ours: all.length - right, atMost: 0 },
  });
});

it.each(CROWDS)('[G26] the end of the tmux server under %i workers', async (workers) => {
  const { backend } = world;
  const ids = workerNames(workers);
  await Promise.all(ids.map((id) => backend.start(world.spec(id, QUIET))));
  const [pid] = await world.panes('#{pid}');
  const over = new Promise<number>((resolve) => {
    const left = new Set(ids);
    backend.onEvent((event) => {
      if (event.type === 'exited' || event.type === 'lost') left.delete(event.workerId);
      if (left.size === 0) resolve(monotonicMs());
    });
  });
  const began = monotonicMs();
  process.kill(Number(pid), 'SIGKILL');
  figure({
    ...{ goal: 'G26', unit: 'ms', atMost: 20 },
    what: `tmux server killed → the last of ${workers} workers told as over`,
    ours: (await over) - began,
  });
});
