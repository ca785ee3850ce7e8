import { expect, it } from 'vitest';
import { marked, onChannel, panesOf, polled, terminals } from './support/channel.js';
import { Programs } from './support/programs.js';
import { compare } from './support/rows.js';
import { Starting } from './support/starting.js';
import { cpuAtRest, crowd, lookEveryHalfSecond } from './support/still.js';
import { openWorld, QUIET, withWorkers } from './support/tmux.js';

// What would be noticed: each limit is twice the goal that `npm run bench` measures against, and a ratio of one run.

it('[G1] --version takes about as long as an empty program', async () => {
  const programs = await Programs.create();
  try {
    const { ratio } = await compare({
      ...{ goal: 'G1', unit: 'ms', what: '--version; rival: an empty program of Node' },
      ours: () => programs.ours('--version'),
      rival: () => programs.empty(),
    });
    expect(ratio).toBeLessThan(2 * 1.05);
  } finally {
    programs.close();
  }
});

it('[G7] an agent in our hands takes input about as soon as by itself', async () => {
  const world = await openWorld();
  try {
    const starting = new Starting(world, await world.look(), 500);
    const { ratio } = await compare({
      ...{ goal: 'G7', unit: 'ms', what: 'start → takes input, 500 ms of its own; rival: the agent alone' },
      ours: () => starting.ours(),
      rival: () => starting.directly(),
    });
    expect(ratio).toBeLessThan(2 * 1.05);
  } finally {
    await world.sandbox.close();
  }
});

it('[G10] what a worker says reaches us by far before a look each half second would find it', () =>
  withWorkers(16, QUIET, async (world) => {
    const client = await world.look();
    const [terminal = ''] = await terminals(world);
    const [pane = ''] = await panesOf(world, '#{pane_id}');
    let marks = 0;
    const { ratio } = await compare({
      ...{ goal: 'G10', unit: 'ms', target: { atLeast: 200 } },
      what: 'line of an end, 16 panes; rival: a look every 0.5 s',
      ours: () => {
        const mark = `ours-${++marks}`;
        return marked(terminal, mark, onChannel(client, mark));
      },
      rival: () => polled(world, terminal, pane, `theirs-${++marks}`),
    });
    expect(ratio).toBeGreaterThan(200 / 2);
  }));

it('[G13] workers that are still cost nothing', async () => {
  const still = await crowd(32);
  try {
    const before = still.startedTmux();
    const { ratio } = await compare({
      ...{ goal: 'G13', unit: 'ms of CPU a second', rounds: 5, target: { atLeast: 1_000 } },
      what: '32 still workers: supervisor and tmux; rival: a look at each every 0.5 s',
      ours: () => cpuAtRest(still),
      rival: () => lookEveryHalfSecond(32),
    });
    expect(ratio).toBeGreaterThan(1_000 / 2);
    expect(still.startedTmux()).toBe(before);
  } finally {
    await still.rig.close();
  }
});
