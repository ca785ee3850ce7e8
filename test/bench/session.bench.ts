import { readdirSync, statSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { basename, dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, it } from 'vitest';
import type { SessionRig } from '../support/session-rig.js';
import { residentOf } from './support/cpu.js';
import { compare, figure } from './support/rows.js';
import { cpuAtRest, crowd, lookEveryHalfSecond } from './support/still.js';
import { CROWDS, monotonicMs, timed } from './support/tmux.js';

let rig: SessionRig;
afterEach(() => rig.close());

/** The database with its write-ahead log. */
function state(): number {
  const { database } = rig.paths;
  const files = readdirSync(dirname(database)).filter((name) => name.startsWith(basename(database)));
  return files.reduce((sum, name) => sum + statSync(join(dirname(database), name)).size, 0);
}

/** With everything in it: the log beside it is written anew from its beginning then, and grows no further. */
function database(): number {
  const sqlite = new Database(rig.paths.database);
  sqlite.pragma('wal_checkpoint(PASSIVE)');
  sqlite.close();
  return statSync(rig.paths.database).size;
}

it.each(CROWDS)('[G13] [G25] [G26] [G27] a session of %i workers', async (count) => {
  const still = await crowd(count);
  ({ rig } = still);
  const { startedTmux, server } = still;
  const before = { tmux: startedTmux(), bytes: state(), at: monotonicMs() };
  await compare({
    ...{ goal: 'G13', unit: 'ms of CPU a second', rounds: 3, target: { atLeast: 1_000 } },
    what: `${count} still workers: supervisor and tmux; rival: a look at each every 0.5 s`,
    ours: () => cpuAtRest(still),
    rival: () => lookEveryHalfSecond(count + 1),
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
    ...{ goal: 'state', unit: 'bytes', ours: database() / rig.events().length },
    what: `database per event, ${rig.events().length} events of ${count} spawns, rows and indexes included`,
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
