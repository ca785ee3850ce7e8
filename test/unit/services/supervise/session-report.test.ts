import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SessionRow } from '../../../../src/core/state/rows.js';
import type { EventData, EventName } from '../../../../src/core/events/index.js';
import { ownIdentity } from '../../../../src/platform/identity.js';
import { fact } from '../../../../src/services/engine/deps.js';
import {
  reportSession,
  reportVerification,
  reportWorker,
} from '../../../../src/services/supervise/session-report.js';
import { isResumable, shownState } from '../../../../src/services/supervise/shown-state.js';
import { EngineRig } from '../../../support/engine-rig.js';
import { sampleEvent, SESSION } from '../../../support/sample-events.js';

let rig: EngineRig;
beforeEach(() => {
  rig = new EngineRig();
  rig.store.append(sampleEvent('worker.created', { task: 'x'.repeat(200) }));
});
afterEach(() => rig.close());

function append<Name extends EventName>(type: Name, data: EventData<Name>, runId?: string): void {
  rig.store.append(fact(type, rig.subject('w01', runId), data));
}

const report = () => reportWorker(rig.store, rig.worker('w01'));
const row = () => {
  const found = rig.store.session(SESSION);
  if (found === null) throw new Error('no session');
  return found;
};

describe('the word for a worker', () => {
  it('before it has a run is its own state', () => {
    expect(report()).toEqual({
      worker_id: 'w01',
      perspective: 'implementer',
      agent: 'scripted',
      state: 'starting',
      summary: '',
      task: 'x'.repeat(120),
      branch: `agentorchestr/${SESSION}/implementer-w01`,
      integrated: false,
      waiting: null,
    });
  });

  it.each([
    ['run.succeeded', { summary: 's' }, 'done'],
    ['run.blocked', { summary: 's' }, 'blocked'],
    ['run.failed', { summary: 's', failure_code: 'REPORTED' }, 'failed'],
    ['run.failed', { summary: 's', failure_code: 'AGENT_EXITED' }, 'exited'],
    ['run.timed_out', { summary: 's' }, 'failed'],
    ['run.cancelled', { summary: 's' }, 'killed'],
    ['run.interrupted', { summary: 's' }, 'orphaned'],
  ] as const)('after %s %j is %s', (type, data, word) => {
    append(type, data, rig.instruct('w01', 'x', 'task').runId);
    expect(report()).toMatchObject({ state: word, summary: 's', waiting: null });
  });

  it('whose process ended after it was done stays done', () => {
    append('run.succeeded', { summary: 's' }, rig.instruct('w01', 'x', 'task').runId);
    append('worker.exited', { attempt_id: 'a', status: 0, reason: 'x', output_tail: '' });
    expect(report().state).toBe('done');
  });

  it('that was done and works on something new is running again', () => {
    append('run.succeeded', { summary: 's' }, rig.instruct('w01', 'x', 'task').runId);
    const { runId } = rig.instruct('w01', 'more');
    append('worker.working', {}, runId);
    expect(report()).toMatchObject({ state: 'running', summary: '' });
  });

  it('whose run waits is waiting, with what for', () => {
    const { runId } = rig.instruct('w01', 'x', 'task');
    append('run.waiting', { kind: 'question', text: 'red or blue?' }, runId);
    expect(report()).toMatchObject({ state: 'waiting', waiting: { kind: 'question', text: 'red or blue?' } });
  });

  it('that waits before its first run is waiting with what its screen shows', () => {
    append('worker.waiting', { kind: 'trust', text: 'Trust this folder?' });
    expect(report()).toMatchObject({
      state: 'waiting',
      waiting: { kind: 'trust', text: 'Trust this folder?' },
    });
  });

  it('that is gone without a run is orphaned', () => {
    append('worker.lost', { reason: 'x' });
    expect(report().state).toBe('orphaned');
  });
});

describe('a verification', () => {
  it('with nothing to run says so, and is no more than that', () => {
    rig.store.append(
      sampleEvent('verify.started', { commands: [] }),
      sampleEvent('verify.passed', { results: [], nothing_to_verify: true }),
    );
    const [verification] = rig.store.verifications(SESSION);
    expect(verification && reportVerification(verification)).toEqual({
      verify_id: 'v1',
      state: 'nothing_to_verify',
      commit: 'c3',
      commands: [],
      reason: null,
    });
  });
});

describe('the report of a session', () => {
  it('is whole from the first moment', () => {
    expect(reportSession(rig.store, row())).toEqual({
      session_id: SESSION,
      state: 'crashed',
      mode: 'goal',
      goal: 'make it faster',
      summary: '',
      reason: null,
      project: '/home/user/project',
      base: 'base main@a1',
      branch: null,
      commit: null,
      workers: [report()],
      attention: [],
      verify: null,
      last_progress: null,
      merge_command: null,
      applied: null,
      created_at: '2026-01-01T00:00:00.000Z',
      ended_at: null,
      left_out: null,
      cleaned_at: null,
      resumable: true,
      disk: null,
    });
  });

  it('names the merge command once something is integrated, and the last verification', () => {
    rig.store.append(
      sampleEvent('session.updated', { integration_branch: 'agentorchestr/x/integration' }),
      sampleEvent('verify.started', { verify_id: 'v0' }),
      sampleEvent('verify.failed', { verify_id: 'v0' }),
    );
    expect(reportSession(rig.store, row()).merge_command).toBeNull();
    rig.store.append(
      sampleEvent('branch.integrated'),
      sampleEvent('verify.started'),
      sampleEvent('verify.passed'),
    );
    expect(reportSession(rig.store, row())).toMatchObject({
      commit: 'c3',
      merge_command: 'git merge agentorchestr/x/integration',
      verify: { verify_id: 'v1', state: 'passed' },
      workers: [{ integrated: true }],
    });
  });
});

describe('the state that is shown of a session', () => {
  const shown = () => shownState(rig.store, row());
  const resumable = (state: string, more: Partial<SessionRow> = {}) =>
    isResumable(rig.store, { ...row(), ...more }, state);

  it('is active only while its owner lives', () => {
    expect(shown()).toBe('crashed');
    rig.store.acquireLease(SESSION, ownIdentity());
    expect(shown()).toBe('active');
    rig.store.releaseLease(SESSION, ownIdentity());
    rig.store.acquireLease(SESSION, { ...ownIdentity(), pidStartedAt: '1' });
    expect(shown()).toBe('crashed');
  });

  it.each([
    ['session.paused', { reason: 'x' }, 'paused', true],
    ['session.ended', { state: 'done', summary: '' }, 'done', false],
    ['session.ended', { state: 'failed', summary: '' }, 'failed', true],
    ['session.ended', { state: 'timeout', summary: '' }, 'timeout', true],
  ] as const)('after %s %j is %s; resumable: %s', (type, data, state, isIt) => {
    rig.store.append(sampleEvent(type, data));
    expect([shown(), resumable(shown())]).toEqual([state, isIt]);
  });

  it('can be taken up again when it crashed, not while it is at work', () => {
    expect([resumable('crashed'), resumable('active')]).toEqual([true, false]);
  });

  it('cannot before its first agent was there: the lead, or the one that nobody leads', () => {
    const young = { session_id: 'feedface' };
    const manual = { ...young, options: { plan: { mode: 'manual' } } };
    rig.store.append(sampleEvent('session.created', {}, young));
    expect([resumable('crashed', young), resumable('failed', manual)]).toEqual([false, false]);
    rig.store.append(sampleEvent('worker.created', {}, { ...young, worker_id: 'w01' }));
    expect([resumable('crashed', young), resumable('failed', manual)]).toEqual([false, true]);
  });

  it('cannot when it was cleaned, or when its agent had a terminal of the person’s own', () => {
    const plan = { worker_backend: 'foreground' };
    expect(resumable('paused', { cleaned_at: 'then' })).toBe(false);
    expect(resumable('paused', { options: { plan } })).toBe(false);
  });
});
