import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, it } from 'vitest';
import { killServer } from '../../src/backends/tmux/attach.js';
import { createSandbox } from '../support/sandbox.js';
import { SessionRig, SILENT_LEAD } from '../support/session-rig.js';
import { cpuOf, cpuWithChildren, residentOf } from './support/cpu.js';
import { compare, figure } from './support/rows.js';
import { CROWDS, execTmux, monotonicMs, timed } from './support/tmux.js';

const SCRIPT = `${SILENT_LEAD}workers: [{ steps: [{ silence: true }] }]\n`;
const AT_ONCE = 4;
const STILL_MS = 5_000;
const LOOK_MS = 500;

let rig: SessionRig;
afterEach(() => rig.close());

/** A session with so many workers in their panes, each in its turn and still; every tmux that is started is counted. */
async function crowd(count: number): Promise<{ readonly startedTmux: () => number }> {
  const shims = createSandbox();
  const tally = join(shims.root, 'tally');
  const tmux = execFileSync('/bin/sh', ['-c', 'command -v tmux'], { encoding: 'utf8' }).trim();
  const shim = join(shims.folder('bin'), 'tmux');
  writeFileSync(shim, `#!/bin/sh\necho "$*" >>'${tally}'\nexec '${tmux}' "$@"\n`);
  chmodSync(shim, 0o755);
  rig = new SessionRig({ env: { PATH: `${join(shim, '..')}:${process.env['PATH'] ?? ''}` } });
  rig.world.sandbox.onClose(() => shims.close());
  await rig.start(SCRIPT, { limits: { max_workers: count, spawns_per_minute: 1_000 } });
  const lead = await rig.lead();
  let spawned = 0;
  const spawner = async () => {
    while (spawned < count) {
      const task = `be still, ${++spawned}`;
      const { worker_id: id } = await lead.ok('spawn_worker', { task, perspective: 'tester' });
      await rig.event(
        `${String(id)} at work`,
        ({ type, worker_id }) => type === 'worker.working' && worker_id === id,
      );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, spawner));
  await sleep(STILL_MS);
  return {
    startedTmux: () => (existsSync(tally) ? readFileSync(tally, 'utf8').split('\n').length - 1 : 0),
  };
}

const serverPid = () => Number(rig.tmux('display-message', '-p', '#{pid}'));
/** Panes of a server that is asked without a connection. */
const paneIds = () => rig.tmux('list-panes', '-a', '-F', '#{pane_id}').split('\n');

/** CPU of these processes while something goes on, ms a second. */
async function cpuWhile(cpu: () => number, during: () => Promise<unknown>): Promise<number> {
  const before = cpu();
  const wall = await timed(during);
  return ((cpu() - before) / wall) * 1_000;
}

function bytesOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).reduce(
    (sum, entry) => sum + (entry.isFile() ? statSync(join(entry.parentPath, entry.name)).size : 0),
    0,
  );
}

const state = () => bytesOf(join(rig.paths.database, '..'));

it.each(CROWDS)('[G13] [G25] [G26] [G27] a session of %i workers', async (count) => {
  const { startedTmux } = await crowd(count);
  const server = serverPid();
  const panes = paneIds();
  const before = { tmux: startedTmux(), bytes: state(), at: monotonicMs() };
  await compare({
    ...{ goal: 'G13', unit: 'ms of CPU a second', rounds: 3, target: { atLeast: 1_000 } },
    what: `${count} still workers: supervisor and tmux; rival: a look at each every 0.5 s`,
    ours: () =>
      cpuWhile(
        () => cpuOf(server) + cpuOf(rig.control.pid),
        () => sleep(STILL_MS),
      ),
    // It looks at as many panes of a server of its own: whoever looks at ours would be counted as us.
    rival: () => lookEveryHalfSecond(panes.length),
  });
  const span = monotonicMs() - before.at;
  figure({
    ...{ goal: 'tmux', unit: 'processes a minute', ours: ((startedTmux() - before.tmux) * 60_000) / span },
    ...{ what: `tmux processes started for ${count} still workers`, atMost: 0 },
  });
  figure({
    ...{ goal: 'state', unit: 'bytes', what: `state per hour of a still worker, ${count} workers` },
    ours: ((state() - before.bytes) * 3_600_000) / span / count,
  });
  figure({
    ...{ goal: 'state', unit: 'bytes', ours: state() / rig.events().length },
    what: `state per event, ${rig.events().length} events of ${count} spawns, indexes and write-ahead log included`,
  });
  const mb = { goal: 'G25', unit: 'MB' };
  figure({ ...mb, what: `supervisor, ${count} workers`, ours: residentOf(rig.control.pid), atMost: 100 });
  figure({ ...mb, what: `tmux server, ${count} workers`, ours: residentOf(server), atMost: 30 });
  await compare({
    ...{ goal: 'G27', unit: 'ms' },
    what: `supervisor killed → another has all ${count} workers; rival: an empty program of Node`,
    async ours() {
      await rig.crash();
      return timed(() => rig.takeUp());
    },
    rival: () => timed(() => Promise.resolve(spawnSync(process.execPath, ['-e', '0']))),
  });
  const began = Date.now();
  process.kill(server, 'SIGKILL');
  const over = new Set<string>();
  await rig.event('the end of all', ({ type, worker_id }) => {
    if (type === 'worker.lost' || type === 'worker.exited') over.add(worker_id ?? '');
    return over.size > count;
  });
  const last = Math.max(
    ...rig
      .events()
      .filter(({ type }) => type === 'worker.lost' || type === 'worker.exited')
      .map(({ at }) => Date.parse(at)),
  );
  figure({
    ...{ goal: 'G26', unit: 'ms', ours: last - began },
    what: `tmux server killed → the last of ${count} workers recorded as over`,
  });
});

async function lookEveryHalfSecond(count: number): Promise<number> {
  const sandbox = createSandbox();
  const tmux = (...args: string[]) => execTmux(sandbox, 'rival', ...args);
  try {
    await tmux('-f', '/dev/null', 'new-session', '-d', 'cat');
    for (let made = 1; made < count; made++) await tmux('new-window', '-d', 'cat');
    const list = (await tmux('list-panes', '-a', '-F', '#{pane_id} #{pid}')).trim().split('\n');
    const rows = list.map((line) => line.split(' '));
    const pid = Number(rows[0]?.[1]);
    return await cpuWhile(
      () => cpuOf(pid) + cpuWithChildren(process.pid),
      async () => {
        for (let look = 0; look < 4; look++)
          await Promise.all([
            sleep(LOOK_MS),
            ...rows.map(([pane = '']) => tmux('capture-pane', '-p', '-t', pane)),
          ]);
      },
    );
  } finally {
    await killServer({ socketName: 'rival', env: sandbox.env });
    await sandbox.close();
  }
}
