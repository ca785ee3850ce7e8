import { it } from 'vitest';
import { compare, median } from './support/rows.js';
import { CROWDS, execTmux, QUIET, timed, withWorkers } from './support/tmux.js';

const PIPELINED = 3_000;
const EXECUTED = 64;
const AT_ONCE = 8;

it.each(CROWDS)('[G4] one command beside %i panes', (panes) =>
  withWorkers(panes, QUIET, async (world) => {
    const client = await world.look();
    const lines = ['list-panes', '-a', '-F', '#{pane_id} #{pane_dead}'];
    const many = async (count: number, one: () => Promise<unknown>) => {
      const times: number[] = [];
      for (let done = 0; done < count; done++) times.push(await timed(one));
      return median(times);
    };
    await compare({
      ...{ goal: 'G4', unit: 'ms', target: { atLeast: 15 } },
      what: `one tmux command, ${panes} panes; rival: a client of its own`,
      ours: () => many(20, () => client.command('display-message', '-p', '#{pane_id}')),
      rival: () =>
        many(3, () => execTmux(world.sandbox, world.socketName, 'display-message', '-p', '#{pane_id}')),
    });
    await compare({
      ...{ goal: 'G4', unit: 'ms' },
      what: `list of ${panes} panes; rival: a client of its own`,
      ours: () => many(20, () => client.command(...lines)),
      rival: () => many(3, () => execTmux(world.sandbox, world.socketName, ...lines)),
    });
  }),
);

it('[G5] 3,000 keys', () =>
  withWorkers(8, QUIET, async (world) => {
    const client = await world.look();
    const panes = await client.command('list-panes', '-a', '-F', '#{pane_id}');
    const key = (index: number) => ['send-keys', '-t', panes[index % panes.length] ?? '', 'a'];
    await compare({
      ...{ goal: 'G5', unit: 'us a command', target: { atLeast: 100 } },
      what: `${PIPELINED} send-keys at once; rival: clients of their own, ${AT_ONCE} at a time`,
      ours: async () =>
        (1_000 / PIPELINED) *
        (await timed(() =>
          Promise.all(Array.from({ length: PIPELINED }, (_, index) => client.command(...key(index)))),
        )),
      rival: async () => {
        let next = 0;
        const client = async () => {
          while (next < EXECUTED) await execTmux(world.sandbox, world.socketName, ...key(next++));
        };
        return (1_000 / EXECUTED) * (await timed(() => Promise.all(Array.from({ length: AT_ONCE }, client))));
      },
    });
  }));
