import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { killServer } from '../../../src/backends/tmux/attach.js';
import { createSandbox } from '../../support/sandbox.js';
import { SessionRig, SILENT_LEAD } from '../../support/session-rig.js';
import { cpuOf, cpuWithChildren } from './cpu.js';
import { execTmux, timed } from './tmux.js';

const SCRIPT = `${SILENT_LEAD}workers: [{ steps: [{ silence: true }] }]\n`;
const AT_ONCE = 4;
const STILL_MS = 5_000;
const LOOK_MS = 500;

export interface Crowd {
  readonly rig: SessionRig;
  /** How many programs of tmux were started so far. */
  readonly startedTmux: () => number;
  /** Of the tmux server. */
  readonly server: number;
}

/** A session with so many workers in their panes, each in its turn and still; every tmux that is started is counted. */
export async function crowd(count: number): Promise<Crowd> {
  const shims = createSandbox();
  const tally = join(shims.root, 'tally');
  const tmux = execFileSync('/bin/sh', ['-c', 'command -v tmux'], { encoding: 'utf8' }).trim();
  const shim = join(shims.folder('bin'), 'tmux');
  writeFileSync(shim, `#!/bin/sh\necho "$*" >>'${tally}'\nexec '${tmux}' "$@"\n`);
  chmodSync(shim, 0o755);
  const rig = new SessionRig({ env: { PATH: `${join(shim, '..')}:${process.env['PATH'] ?? ''}` } });
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
    rig,
    server: Number(rig.tmux('display-message', '-p', '#{pid}')),
    startedTmux: () => (existsSync(tally) ? readFileSync(tally, 'utf8').split('\n').length - 1 : 0),
  };
}

/** What supervisor and tmux take while nothing happens, ms of CPU a second. */
export const cpuAtRest = ({ rig, server }: Crowd): Promise<number> =>
  cpuWhile(
    () => cpuOf(server) + cpuOf(rig.control.pid),
    () => sleep(STILL_MS),
  );

/** CPU of these processes while something goes on, ms a second. */
async function cpuWhile(cpu: () => number, during: () => Promise<unknown>): Promise<number> {
  const before = cpu();
  const wall = await timed(during);
  return ((cpu() - before) / wall) * 1_000;
}

/** As many panes of a server of its own: whoever looks at ours would be counted as us. */
export async function lookEveryHalfSecond(count: number): Promise<number> {
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
