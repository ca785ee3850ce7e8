import { afterAll, beforeAll, it } from 'vitest';
import { newSessionId } from '../../src/platform/ids.js';
import { resolvePaths } from '../../src/platform/paths.js';
import { systemClock } from '../../src/platform/clock.js';
import { openStore } from '../../src/store/open-store.js';
import { sampleEvent } from '../support/sample-events.js';
import { Programs } from './support/programs.js';
import { compare } from './support/rows.js';

const ROUNDS = 31;

let programs: Programs;
beforeAll(async () => {
  programs = await Programs.create();
});
afterAll(() => programs.close());

/** Of goals that are over. */
function addSessions(count: number): void {
  const store = openStore({ path: resolvePaths(programs.env).database, clock: systemClock });
  for (let made = 0; made < count; made++) {
    const session_id = newSessionId();
    store.append(
      sampleEvent('session.created', { project: programs.folder }, { session_id }),
      sampleEvent('session.ended', {}, { session_id }),
    );
  }
  store.close();
}

it('[G1] --version', async () => {
  await compare({
    ...{ goal: 'G1', unit: 'ms', what: '--version; rival: an empty program of Node', rounds: ROUNDS },
    target: { atMost: 1.05 },
    ours: () => programs.ours('--version'),
    rival: () => programs.empty(),
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
      ours: () => programs.ours('--list-sessions'),
      rival: () => programs.empty(),
    });
  }
});
