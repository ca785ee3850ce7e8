import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { killWorker } from '../../../../src/services/supervise/kill-worker.js';
import { reportWorker } from '../../../../src/services/supervise/session-report.js';
import { EngineRig } from '../../../support/engine-rig.js';
import { createFakeSession, type FakeSession } from '../../../support/fake-session.js';

let rig: EngineRig;
let fake: FakeSession;
beforeEach(() => {
  rig = new EngineRig();
  fake = createFakeSession(rig);
  rig.backend.onStop = (workerId) =>
    rig.backend.emit({
      type: 'exited',
      workerId,
      attemptId: `attempt-${workerId}`,
      status: 143,
      outputTail: '',
    });
});
afterEach(() => rig.close());

const kill = (by = 'lead') => killWorker(fake.session, 'w01', { by, reason: 'not needed' });
const states = () => rig.store.runs(rig.deps.sessionId, 'w01').map(({ state }) => state);

describe('a worker that is killed', () => {
  it('has all its runs cancelled, those that never began as well, and is shown as killed', async () => {
    await rig.working('w01');
    rig.instruct('w01', 'second');
    rig.instruct('w01', 'third');
    expect(await kill()).toEqual({ killed: true, survivors: [] });
    expect(states()).toEqual(['cancelled', 'cancelled', 'cancelled']);
    expect(reportWorker(rig.store, rig.worker('w01')).state).toBe('killed');
    expect(rig.store.runs(rig.deps.sessionId, 'w01')[0]?.summary).toBe('cancelled by lead: not needed');
  });

  it('by the lead is no news to it; by a person it is', async () => {
    await rig.working('w01');
    await kill();
    expect(rig.messages('lead').map(({ state, detail }) => [state, detail])).toEqual([
      ['submitted', 'answer of kill_worker'],
    ]);
    await rig.close();
    rig = new EngineRig();
    fake = createFakeSession(rig);
    await rig.working('w01');
    await kill('cli');
    expect(rig.messages('lead').map(({ state }) => state)).toEqual(['accepted']);
  });

  it('after it was done stays done, and killing it again is fine', async () => {
    await rig.working('w01');
    rig.engine.report('w01', { state: 'succeeded', summary: 'written' }, 'protocol');
    await rig.endTurn('w01');
    await kill();
    await kill();
    expect(states()).toEqual(['succeeded']);
    expect(rig.worker('w01').state).toBe('exited');
  });
});
