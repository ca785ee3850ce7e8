import { randomBytes } from 'node:crypto';
import { it } from 'vitest';
import { connectControlClient } from '../../src/backends/tmux/control-client.js';
import { killServer } from '../../src/backends/tmux/attach.js';
import { createSandbox, type Sandbox } from '../support/sandbox.js';
import { createTmuxWorld } from '../support/tmux.js';
import { compareAll } from './support/rows.js';
import { CROWDS, execTmux, QUIET, timed, workerNames } from './support/tmux.js';

const COMMAND = QUIET.join(' ');

/** From no server to so many panes with a program in each; the time does not hold what comes after. */
async function ours(count: number): Promise<number> {
  const sandbox = createSandbox();
  const world = createTmuxWorld(sandbox);
  try {
    return await timed(async () => {
      await world.backend.open();
      await Promise.all(workerNames(count).map((id) => world.backend.start(world.spec(id, QUIET))));
    });
  } finally {
    await sandbox.close();
  }
}

async function inServer(work: (sandbox: Sandbox, socketName: string) => Promise<number>): Promise<number> {
  const sandbox = createSandbox();
  const socketName = `bench-${randomBytes(3).toString('hex')}`;
  sandbox.onClose(() => killServer({ socketName, env: sandbox.env }));
  try {
    return await work(sandbox, socketName);
  } finally {
    await sandbox.close();
  }
}

const bySplitting = (count: number) =>
  inServer((sandbox, socketName) =>
    timed(async () => {
      const tmux = (...args: string[]) => execTmux(sandbox, socketName, ...args);
      await tmux('-f', '/dev/null', 'new-session', '-d', '-x', '400', '-y', '200', COMMAND);
      for (let made = 1; made < count; made++) {
        await tmux('split-window', '-d', COMMAND);
        await tmux('select-layout', 'tiled');
      }
    }),
  );

const byBareWindows = (count: number) =>
  inServer((sandbox, socketName) =>
    timed(async () => {
      const initial = ['new-session', '-x', '220', '-y', '60', COMMAND];
      const client = await connectControlClient({
        ...{ socketName, configFile: '/dev/null', env: sandbox.env, initial },
      });
      await Promise.all(
        workerNames(count - 1).map(() => client.command('new-window', '-d', '-P', '-F', '#{pane_id}', 'cat')),
      );
    }),
  );

it.each(CROWDS)('[G6] %i panes from nothing', async (count) => {
  await compareAll({
    ...{ goal: 'G6', unit: 'ms', what: `${count} workers' panes from no server` },
    ours: () => ours(count),
    rivals: [
      {
        what: 'a client for each split and layout',
        run: () => bySplitting(count),
        target: { atLeast: 3 },
      },
      {
        what: 'bare windows over one connection',
        run: () => byBareWindows(count),
        target: { atMost: 1.3 },
      },
    ],
  });
});
