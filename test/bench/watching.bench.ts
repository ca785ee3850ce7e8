import { setTimeout as sleep } from 'node:timers/promises';
import { it } from 'vitest';
import { killServer } from '../../src/backends/tmux/attach.js';
import { asTold, marked, onChannel, panesOf, polled, terminals } from './support/channel.js';
import { whileChatting } from './support/chatter.js';
import { cpuOf, cpuWithChildren } from './support/cpu.js';
import { compare, compareAll, figure, median, quantile } from './support/rows.js';
import { CROWDS, execTmux, openWorld, QUIET, timed, withWorkers } from './support/tmux.js';

const CHATTY = 40;
/** Ends told to the engine are far between: a screen that was just read is left alone for a while. */
const TOLD = 10;
const SETTLED_MS = 400;

it.each(CROWDS)('[G10] the line of an end among %i panes', (panes) =>
  withWorkers(panes, QUIET, async (world) => {
    const client = await world.look();
    const all = await terminals(world);
    const [terminal = ''] = all;
    const [pane = ''] = await panesOf(world, '#{pane_id}');
    const chatty = all.slice(1, 1 + Math.min(CHATTY, panes - 1));
    const what = `line of an end, ${panes} panes, ${chatty.length} chatty`;
    const times: number[] = [];
    const told: number[] = [];
    let marks = 0;
    await whileChatting({ terminals: chatty, perSecond: 10 }, async () => {
      await compare({
        ...{ goal: 'G10', unit: 'ms', target: { atLeast: 200 } },
        what: `${what} → tmux's control channel; rival: a look every 0.5 s`,
        ours: async () => {
          const here: number[] = [];
          for (let round = 0; round < 10; round++) {
            const mark = `ours-${++marks}`;
            here.push(await marked(terminal, mark, onChannel(client, mark)));
          }
          times.push(...here);
          return median(here);
        },
        rival: () => polled(world, terminal, pane, `theirs-${++marks}`),
      });
      for (let round = 0; round < TOLD; round++) {
        await sleep(SETTLED_MS);
        const mark = `told-${++marks}`;
        told.push(await marked(terminal, mark, asTold(world, mark)));
      }
    });
    figure({ goal: 'G10', unit: 'ms', what: `${what}, p50`, ours: median(times), atMost: 1 });
    figure({ goal: 'G10', unit: 'ms', what: `${what}, p99`, ours: quantile(times, 0.99), atMost: 4 });
    figure({ goal: 'G10', unit: 'ms', what: `${what} → told to the engine, p50`, ours: median(told) });
  }),
);

const WATCHED = 10;
const SPAN_MS = 1_500;
const LOOK_MS = 100;

/** CPU time that the tmux server and this process take in one span, ms; `during` runs within it. */
async function cpuWhile(server: number, during: () => Promise<unknown>): Promise<number> {
  const before = cpuOf(server) + cpuWithChildren(process.pid);
  const wall = await timed(during);
  return ((cpuOf(server) + cpuWithChildren(process.pid) - before) / wall) * 1_000;
}

it('[G11] watching ten chatty panes', async () => {
  const bare = await openWorld();
  const watched = await openWorld();
  try {
    for (let made = 0; made < WATCHED; made++) await watched.backend.start(watched.spec(`w${made}`, QUIET));
    const { sandbox } = bare;
    const tmux = (...args: string[]) => execTmux(sandbox, 'bare', ...args);
    await tmux('-f', '/dev/null', 'new-session', '-d', 'cat');
    sandbox.onClose(() => killServer({ socketName: 'bare', env: sandbox.env }));
    for (let made = 1; made < WATCHED; made++) await tmux('new-window', '-d', 'cat');
    const list = (await tmux('list-panes', '-a', '-F', '#{pane_id} #{pane_tty} #{pid}')).trim().split('\n');
    const rows = list.map((line) => line.split(' '));
    const bareTerminals = rows.map(([, tty = '']) => tty);
    const bareServer = Number(rows[0]?.[2]);
    const [server] = await watched.panes('#{pid}');
    const oursTerminals = await terminals(watched);
    const poll = async () => {
      for (let passed = 0; passed < SPAN_MS; passed += LOOK_MS) {
        await Promise.all([
          sleep(LOOK_MS),
          ...rows.map(([pane = '']) => tmux('capture-pane', '-p', '-t', pane)),
        ]);
      }
    };
    const chat = (to: readonly string[], pid: number, during: () => Promise<unknown>) =>
      whileChatting({ terminals: to, perSecond: 20 }, () => cpuWhile(pid, during));
    await compareAll({
      ...{
        goal: 'G11',
        unit: 'ms of CPU a second',
        what: `${WATCHED} panes, 20 lines a second each, all read`,
      },
      ours: () => chat(oursTerminals, Number(server), () => sleep(SPAN_MS)),
      rivals: [
        {
          what: 'nobody reads',
          run: () => chat(bareTerminals, bareServer, () => sleep(SPAN_MS)),
          target: { atMost: 2.2 },
        },
        {
          what: 'a look at each every 0.1 s',
          run: () => chat(bareTerminals, bareServer, poll),
          target: { atLeast: 3 },
        },
      ],
    });
  } finally {
    await watched.sandbox.close();
    await bare.sandbox.close();
  }
});
