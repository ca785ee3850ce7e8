import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventLine } from '../../../../src/doors/cli/output/event-line.js';
import { callOperation } from '../../../../src/services/call-operation.js';
import type { Caller } from '../../../../src/services/operation.js';
import { OPERATIONS } from '../../../../src/services/operations/index.js';
import { EngineRig } from '../../../support/engine-rig.js';
import { createFakeSession } from '../../../support/fake-session.js';

let rig: EngineRig;
beforeEach(() => {
  rig = new EngineRig();
});
afterEach(() => rig.close());

it('[65] report_progress appends one line to the progress log, and log shows it, as the lead’s where it is', async () => {
  await rig.working('w01');
  const { session } = createFakeSession(rig);
  const { signal } = new AbortController();
  const report = (caller: Caller, message: string) =>
    callOperation(OPERATIONS, session, { operation: 'report_progress', input: { message }, caller, signal });
  await report({ scope: 'lead', workerId: 'lead', name: 'lead', callLimitMs: 1_000 }, 'half\n way');
  await report({ scope: 'client', workerId: null, name: 'cli', callLimitMs: 1_000 }, 'nearly');
  expect(readFileSync(join(session.places.directory, 'progress.log'), 'utf8').split('\n')).toEqual([
    expect.stringMatching(/^\S+Z lead: half way$/),
    expect.stringMatching(/^\S+Z cli: nearly$/),
    '',
  ]);
  const types = ['progress.reported'] as const;
  const events = rig.store.events({ after: 0, sessionId: session.sessionId, types: [...types], limit: 10 });
  expect(events.map((event) => eventLine(event).slice(10))).toEqual([
    'lead  progress: half way',
    '      progress: nearly',
  ]);
  expect(rig.store.session(session.sessionId)?.last_progress).toBe('nearly');
});
