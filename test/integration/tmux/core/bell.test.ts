import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSandbox, type Sandbox } from '../../../support/sandbox.js';
import { createTmuxWorld, until } from '../../../support/tmux.js';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(async () => sandbox.close());

const WAIT = ['/bin/sh', '-c', 'echo up; exec sleep 1000'];

test('the bell rings at the terminal of everybody who looks, and at nobody else', async () => {
  const world = createTmuxWorld(sandbox);
  await world.backend.open();
  await world.backend.bell();
  await world.backend.start(world.spec('w01', WAIT));
  const client = await world.look();
  // A terminal that shows the session: a client of this server inside a window of its own.
  const viewer = ['env', '-u', 'TMUX', 'tmux', '-L', world.socketName, 'attach'];
  const [place = ''] = await client.command('new-window', '-d', '-P', '-F', '#{window_id}', ...viewer);
  // It is in the list before it is ready to hear anything; then it has drawn the session.
  const isThere = async () =>
    (await client.command('capture-pane', '-p', '-t', place)).some((line) => line.trim() === 'up');
  await until(isThere, 'the viewer is there');
  const rung = async () =>
    (await client.command('list-windows', '-F', '#{window_id} #{window_bell_flag}'))
      .filter((line) => line.endsWith(' 1'))
      .map((line) => line.split(' ')[0]);
  expect(await rung()).toEqual([]);
  await world.backend.bell();
  await until(async () => (await rung()).length > 0, 'the bell rang');
  expect(await rung()).toEqual([place]);
  await client.command('kill-window', '-t', place);
});
