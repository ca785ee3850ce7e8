import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { BackendEvent } from '../../../../src/backends/contract.js';
import { attachArguments, isServerAlive, killServer } from '../../../../src/backends/tmux/attach.js';
import type { Clock } from '../../../../src/core/clock.js';
import { systemClock } from '../../../../src/platform/clock.js';
import { isStopped } from '../../../../src/platform/process-tree.js';
import { processStartTime } from '../../../../src/platform/identity.js';
import { createSandbox, type Sandbox } from '../../../support/sandbox.js';
import { createTmuxWorld, openTerminal, until, type TmuxWorld } from '../../../support/tmux.js';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(async () => sandbox.close());

const WAIT = ['/bin/sh', '-c', 'echo up; exec sleep 1000'];
const isGone = (pid: number) => processStartTime(pid) === null;
const told = (world: TmuxWorld) => world.events.filter(({ type }) => type !== 'output' && type !== 'state');
const placeLost = (world: TmuxWorld) =>
  world.event((event): event is Extract<BackendEvent, { type: 'place_lost' }> => event.type === 'place_lost');

async function serverPid(world: TmuxWorld): Promise<number> {
  return Number((await world.panes('#{pid}'))[0]);
}

describe('the end of the server', () => {
  test('[C-23] is told with every worker lost, ends agents that survive it, and what is asked afterwards is answered', async () => {
    const world = createTmuxWorld(sandbox);
    const { socket } = await world.backend.open();
    const pids: number[] = [];
    for (const id of ['lead', 'w01']) pids.push((await world.backend.start(world.spec(id, WAIT))).pid);
    const stubborn = [
      '/bin/sh',
      '-c',
      'trap "" HUP INT TERM; echo $$ >"$HOME/ready"; while :; do sleep 0.2; done',
    ];
    pids.push((await world.backend.start(world.spec('w02', stubborn))).pid);
    await until(() => existsSync(join(sandbox.home, 'ready')), 'the stubborn one ignores signals');
    process.kill(await serverPid(world), 'SIGKILL');
    await placeLost(world);
    expect(
      told(world)
        .map((event) => [event.type, 'workerId' in event ? event.workerId : null])
        .sort((a, b) => String(a).localeCompare(String(b))),
    ).toEqual([
      ['lost', 'lead'],
      ['lost', 'w01'],
      ['lost', 'w02'],
      ['place_lost', null],
    ]);
    expect(told(world).at(-1)?.type).toBe('place_lost');
    expect(pids.filter((pid) => !isGone(pid))).toEqual([]);
    expect(await world.backend.stop('w01', { graceMs: 100 })).toEqual({ verified: true, survivors: [] });
    await world.backend.label('w01', 'x');
    await world.backend.status('x');
    await expect(world.backend.start(world.spec('w03', WAIT))).rejects.toMatchObject({ code: 'TMUX_LOST' });
    await world.backend.close({ destroy: true });
    expect(existsSync(socket ?? '')).toBe(false);
  });

  test('[C-30] tmux commands of an agent reach neither our server nor the user’s', async () => {
    const theirs = await openTerminal(sandbox, { columns: 80, rows: 24 }, ['cat']);
    const [theirSocket = ''] = await theirs.client.command('display-message', '-p', '#{socket_path}');
    const world = createTmuxWorld(sandbox, { env: { ...sandbox.env, TMUX: `${theirSocket},1,0` } });
    await world.backend.open();
    await world.backend.start(world.spec('lead', WAIT));
    const script =
      'tmux kill-server; unset TMUX; tmux kill-server; tmux new-session -d -s own sleep 1000 && tmux list-sessions; exit 0';
    await world.backend.start(world.spec('w01', ['/bin/sh', '-c', script]));
    expect((await world.exit('w01')).outputTail).toMatch(/own: 1 windows/);
    // The launcher stays until its end was read: the pane is dead a moment later.
    await expect
      .poll(() => world.panes('#{@ao_worker} #{pane_dead}'), { timeout: 10_000 })
      .toEqual(['lead 0', 'w01 1']);
    expect(await theirs.client.command('display-message', '-p', 'alive')).toEqual(['alive']);
    // A tmux that the agent started itself is the agent's, and goes with it.
    expect(await world.backend.stop('w01', { graceMs: 200 })).toEqual({ verified: true, survivors: [] });
  });
});

describe('a server that does not answer', () => {
  test('[C-22] stopped for 3 s: nobody is told that anything ended, and everything goes on', async () => {
    const world = createTmuxWorld(sandbox);
    await world.backend.open();
    const { pid } = await world.backend.start(world.spec('w01', WAIT));
    const server = await serverPid(world);
    process.kill(server, 'SIGSTOP');
    const asked = world.backend.read('w01', 1);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(await isServerAlive({ socketName: world.socketName, env: sandbox.env })).toBe('yes');
    process.kill(server, 'SIGCONT');
    expect(await asked).toBe('up');
    expect(told(world)).toEqual([]);
    expect(isGone(pid)).toBe(false);
  });

  test('[C-22] only our connection died: it is made again and nothing is lost', async () => {
    const world = createTmuxWorld(sandbox);
    await world.backend.open();
    await world.backend.start(world.spec('w01', WAIT));
    const client = await world.look();
    const before = await client.command('list-clients', '-F', '#{client_pid}');
    const [ours = ''] = before;
    process.kill(Number(ours), 'SIGKILL');
    await until(async () => {
      const now = await client.command('list-clients', '-F', '#{client_pid}');
      return now.length === before.length && !now.includes(ours);
    }, 'a new connection');
    expect(await world.backend.read('w01', 1)).toBe('up');
    await client.command('detach-client', '-a');
    await until(
      async () => (await client.command('list-clients')).length === 2,
      'a new connection after a person detached it',
    );
    await world.backend.start(world.spec('w02', ['/bin/sh', '-c', 'exit 6']));
    expect(await world.exit('w02')).toMatchObject({ status: 6 });
    expect(told(world).map(({ type }) => type)).toEqual(['exited']);
  });

  test('[C-22] its socket was swept away and the connection died: the socket comes back', async () => {
    const world = createTmuxWorld(sandbox);
    const { socket } = await world.backend.open();
    await world.backend.start(world.spec('w01', WAIT));
    const [ours = ''] = await (await world.look()).command('list-clients', '-F', '#{client_pid}');
    rmSync(dirname(socket ?? ''), { recursive: true });
    process.kill(Number(ours), 'SIGKILL');
    await until(() => existsSync(socket ?? ''), 'the socket');
    await until(async () => (await world.backend.read('w01', 1).catch(() => '')) === 'up', 'the connection');
    expect(told(world)).toEqual([]);
  });
});

test('output that tmux dropped because we were behind flows again afterwards', async () => {
  const world = createTmuxWorld(sandbox);
  await world.backend.open();
  await world.backend.start(
    world.spec('w01', ['/bin/sh', '-c', 'read line; echo "got $line"; exec sleep 1000']),
  );
  const client = await world.look();
  const [ours = ''] = (await client.command('list-clients', '-F', '#{client_pid} #{client_name}')).map(
    (line) => line.split(' ')[1] ?? '',
  );
  await client.command('refresh-client', '-t', ours, '-A', '%1:pause');
  const seen = world.events.length;
  await until(
    () => world.events.slice(seen).some(({ type }) => type === 'output'),
    'a look at the pane after the gap',
  );
  const later = world.events.length;
  await until(async () => {
    await client.command('send-keys', '-t', '%1', 'x');
    return world.events.slice(later).some(({ type }) => type === 'output');
  }, 'output');
  expect(world.events.slice(later)).toContainEqual({ type: 'output', workerId: 'w01' });
});

test('a report of an end that was printed while we were not connected is told afterwards', async () => {
  const world = createTmuxWorld(sandbox);
  await world.backend.open();
  const script =
    'while [ ! -e "$HOME/go" ]; do sleep 0.02; done; echo "WORKER_DONE[n1]: all of it"; seq 200; exec sleep 1000';
  await world.backend.start(world.spec('w01', ['/bin/sh', '-c', script]));
  const client = await world.look();
  const [ours = ''] = await client.command('list-clients', '-F', '#{client_pid} #{client_name}');
  const [pid = '', name = ''] = ours.split(' ');
  await client.command('refresh-client', '-t', name, '-A', '%1:off');
  writeFileSync(join(sandbox.home, 'go'), '');
  await until(
    async () => (await client.command('capture-pane', '-p', '-t', '%1')).includes('200'),
    'the line, and so much after it that it is not on the screen any more',
  );
  expect(world.events.filter(({ type }) => type === 'sentinels')).toEqual([]);
  process.kill(Number(pid), 'SIGKILL');
  const told = await world.event(
    (event): event is Extract<BackendEvent, { type: 'sentinels' }> => event.type === 'sentinels',
  );
  expect(told.sentinels).toMatchObject([{ word: 'done', nonce: 'n1', summary: 'all of it' }]);
});

test('an agent that was stopped is noticed and goes on', async () => {
  const looks: (() => void)[] = [];
  const clock: Clock = {
    now: () => systemClock.now(),
    after(delayMs, task) {
      if (delayMs !== 30_000) return systemClock.after(delayMs, task);
      looks.push(task);
      return () => undefined;
    },
  };
  const world = createTmuxWorld(sandbox, { clock });
  await world.backend.open();
  const { pid } = await world.backend.start(world.spec('w01', WAIT));
  process.kill(pid, 'SIGSTOP');
  await until(() => isStopped(pid), 'it is stopped');
  for (const look of looks.splice(0)) look();
  await until(() => !isStopped(pid), 'it goes on');
  expect(isGone(pid)).toBe(false);
});

describe('another supervisor of the same session', () => {
  test('finds an agent whose supervisor died before it could note it on the pane', async () => {
    const world = createTmuxWorld(sandbox);
    await world.backend.open();
    const spec = world.spec('w01', WAIT, { directory: join(sandbox.folder("it's a folder $x"), 'w01') });
    const started = await world.backend.start(spec);
    const client = await world.look();
    for (const note of ['@ao_worker', '@ao_attempt', '@ao_process'])
      await client.command('set-option', '-p', '-u', '-t', started.paneId ?? '', note);
    await world.backend.close({ destroy: false });
    const next = world.reopen();
    expect((await next.backend.open()).live).toEqual([{ ...started, attemptId: spec.attemptId }]);
  });

  test('finds the agents that live, takes them over, and learns of their end', async () => {
    const world = createTmuxWorld(sandbox);
    await world.backend.open();
    const leadSpec = world.spec('lead', WAIT);
    const lead = await world.backend.start(leadSpec);
    const spec = world.spec('w01', ['/bin/sh', '-c', 'echo up; read x; echo bye; exit 9']);
    const started = await world.backend.start(spec);
    await world.backend.start(world.spec('w02', ['/bin/sh', '-c', 'exit 1']));
    await world.exit('w02');
    await world.backend.close({ destroy: false });

    const next = world.reopen();
    const { live } = await next.backend.open();
    expect(live).toEqual([
      { ...lead, attemptId: leadSpec.attemptId },
      { ...started, attemptId: spec.attemptId },
    ]);
    const [, agent] = live;
    if (agent === undefined) throw new Error('not found');
    expect(await next.backend.adopt(agent, spec)).toEqual(started);
    await (await next.look()).command('send-keys', '-t', started.paneId ?? '', 'Enter');
    expect(await next.exit('w01')).toMatchObject({
      attemptId: spec.attemptId,
      status: 9,
      outputTail: expect.stringMatching(/bye$/),
    });
    // A lead that was not taken over is not overwritten by another one.
    await expect(next.backend.start(next.spec('lead', WAIT))).rejects.toMatchObject({ code: 'SPAWN_FAILED' });
    expect(await next.backend.stop('lead', { graceMs: 1_000 })).toEqual({ verified: true, survivors: [] });
    expect(isGone(lead.pid)).toBe(true);
  });

  test('learns of an end that came while there was none', async () => {
    const world = createTmuxWorld(sandbox);
    await world.backend.open();
    const spec = world.spec('w01', WAIT);
    const { pid } = await world.backend.start(spec);
    await world.backend.close({ destroy: false });
    const next = world.reopen();
    const { live } = await next.backend.open();
    process.kill(pid, 'SIGKILL');
    await until(() => readdirSync(spec.directory).some((name) => name.endsWith('.exit')), 'the exit file');
    if (live[0] === undefined) throw new Error('not found');
    await next.backend.adopt(live[0], spec);
    expect(await next.exit('w01')).toMatchObject({ status: 137 });
  });
});

test('[C-28] sessions whose names begin alike are never taken for each other', async () => {
  const long = createTmuxWorld(sandbox, { sessionId: 'aaaa0000' });
  await long.backend.open();
  const short = createTmuxWorld(sandbox, { sessionId: 'aaaa' });
  expect(await isServerAlive({ socketName: short.socketName, env: sandbox.env })).toBe('no');
  await short.backend.open();
  await long.backend.start(long.spec('w10', WAIT));
  await short.backend.start(short.spec('w01', WAIT));
  await long.backend.start(long.spec('w01', WAIT));
  await short.backend.close({ destroy: true });
  expect(await long.panes('#{@ao_worker} #{pane_dead}')).toEqual(['lead 0', 'w10 0', 'w01 0']);
  await long.backend.stop('w01', { graceMs: 1_000 });
  await until(
    async () => (await long.panes('#{@ao_worker} #{pane_dead}')).join() === 'lead 0,w10 0,w01 1',
    'only w01 ended',
  );
});

test('[C-26] while five agents are idle no process is started at all', async () => {
  const shims = sandbox.folder('shims');
  const log = join(sandbox.root, 'tmux-calls');
  writeFileSync(log, '');
  const real =
    (process.env['PATH'] ?? '')
      .split(':')
      .map((folder) => join(folder, 'tmux'))
      .find((path) => existsSync(path)) ?? '';
  writeFileSync(join(shims, 'tmux'), `#!/bin/sh\necho call >>${log}\nexec ${real} "$@"\n`);
  chmodSync(join(shims, 'tmux'), 0o755);
  const world = createTmuxWorld(sandbox, {
    env: { ...sandbox.env, PATH: `${shims}:${process.env['PATH']}` },
  });
  await world.backend.open();
  for (const id of ['lead', 'w01', 'w02', 'w03', 'w04']) await world.backend.start(world.spec(id, WAIT));
  await world.backend.label('w01', 'idle');
  for (const id of ['lead', 'w01', 'w02', 'w03', 'w04'])
    await until(async () => (await world.backend.read(id, 1)) === 'up', `${id} runs`);
  expect(readFileSync(log, 'utf8')).toBe('call\n');
  const forked = () => sandbox.processes().map(({ pid }) => pid);
  const before = forked();
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  expect(forked()).toEqual(before);
  expect(readFileSync(log, 'utf8')).toBe('call\n');
});

test('[C-31] twenty sessions started and ended leave no process, socket, terminal or file', async () => {
  // No process is left that could hold one but this; others on the machine have theirs.
  const terminals = () =>
    readdirSync('/proc/self/fd')
      .map((fd) => readlinkOf(`/proc/self/fd/${fd}`))
      .filter((target) => /^\/dev\/(ptmx|pts)/.test(target));
  const before = terminals();
  for (let round = 0; round < 20; round++) {
    const world = createTmuxWorld(sandbox, { sessionId: `c0ffee${String(round).padStart(2, '0')}` });
    await world.backend.open();
    await world.backend.start(world.spec('lead', WAIT));
    await world.backend.start(world.spec('w01', ['/bin/sh', '-c', 'setsid sleep 1000 & exit 0']));
    await world.exit('w01');
    await world.backend.close({ destroy: true });
    expect(await sandbox.left()).toEqual([]);
  }
  expect(readdirSync(join(sandbox.sockets, `tmux-${process.getuid?.()}`))).toEqual([]);
  expect(terminals()).toEqual(before);
}, 180_000);

/** '' for one that was closed meanwhile. */
function readlinkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

test('[C-32] inside another tmux, a session starts, and its viewer nests with the printed command', async () => {
  const outer = await openTerminal(sandbox, { columns: 170, rows: 50 }, ['cat']);
  const [inner = ''] = await outer.client.command('display-message', '-p', '#{socket_path},#{pid},0');
  const world = createTmuxWorld(sandbox, {
    env: { ...sandbox.env, TMUX: inner, TMUX_PANE: '%0' },
    terminal: { columns: 170, rows: 50 },
  });
  const { socket } = await world.backend.open();
  await world.backend.start(world.spec('lead', WAIT));
  expect(await outer.client.command('list-sessions', '-F', '#{session_name}')).toEqual(['0']);
  const attach = attachArguments({
    socketName: socket ?? '',
    sessionName: `agentorchestr-${world.sessionId}`,
  });
  await outer.client.command('respawn-pane', '-k', '-t', '%0', 'env', '-u', 'TMUX', ...attach);
  await until(async () => /up/.test(await outer.screen()), 'the lead is seen through the outer tmux');
});

test('a server is ended by name from outside, and its socket goes with it', async () => {
  const world = createTmuxWorld(sandbox);
  const { socket } = await world.backend.open();
  const address = { socketName: world.socketName, env: sandbox.env };
  expect(await isServerAlive(address)).toBe('yes');
  expect(await killServer(address)).toBe('no');
  expect(existsSync(socket ?? '')).toBe(false);
  await placeLost(world);
  expect(await killServer({ socketName: socket ?? '', env: {} })).toBe('no');
  expect(await isServerAlive({ socketName: '/dev/null/socket', env: {} })).toBe('unknown');
});

test('a socket path that is too long is an error with its reason, not a silent failure', async () => {
  const long = join(sandbox.root, 'x'.repeat(80));
  mkdirSync(long);
  const world = createTmuxWorld(sandbox, { env: { ...sandbox.env, TMUX_TMPDIR: long } });
  await expect(world.backend.open()).rejects.toMatchObject({
    code: 'TMUX_FAILED',
    params: { problem: expect.stringContaining('longer than 107 bytes') },
  });
});
