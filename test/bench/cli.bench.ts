import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from 'vitest';
import { newSessionId } from '../../src/platform/ids.js';
import { resolvePaths } from '../../src/platform/paths.js';
import { systemClock } from '../../src/platform/clock.js';
import { openStore } from '../../src/store/open-store.js';
import { compiledRoot } from '../support/compiled.js';
import { sampleEvent } from '../support/sample-events.js';
import { compare } from './support/rows.js';

const ROUNDS = 31;

const folder = mkdtempSync(join(tmpdir(), 'ao-bench-'));
const empty = join(folder, 'empty.cjs');
const env = { PATH: process.env['PATH'], HOME: folder };
let program: string;
beforeAll(async () => {
  writeFileSync(empty, '');
  program = join(await compiledRoot(), 'bin/agentorchestr.cjs');
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Milliseconds that a program of Node takes from its start to its end. */
function run(...args: string[]): number {
  const began = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { env, cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
  return performance.now() - began;
}

/** Of goals that are over. */
function addSessions(count: number): void {
  const store = openStore({ path: resolvePaths(env).database, clock: systemClock });
  for (let made = 0; made < count; made++) {
    const session_id = newSessionId();
    store.append(
      sampleEvent('session.created', { project: folder }, { session_id }),
      sampleEvent('session.ended', {}, { session_id }),
    );
  }
  store.close();
}

it('[G1] --version', async () => {
  await compare({
    ...{ goal: 'G1', unit: 'ms', what: '--version; rival: an empty program of Node', rounds: ROUNDS },
    target: { atMost: 1.05 },
    ours: () => run(program, '--version'),
    rival: () => run(empty),
  });
});

it('[G2] --list-sessions', async () => {
  for (const sessions of [20, 180]) {
    addSessions(sessions);
    const all = sessions === 20 ? 20 : 200;
    await compare({
      ...{ goal: 'G2', unit: 'ms', what: `--list-sessions of ${all}; rival: an empty program of Node` },
      ...(all === 20 ? { target: { atMost: 1.3 } } : {}),
      rounds: ROUNDS,
      ours: () => run(program, '--list-sessions'),
      rival: () => run(empty),
    });
  }
});
