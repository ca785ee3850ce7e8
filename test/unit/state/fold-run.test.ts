import { describe, expect, it } from 'vitest';
import { foldAttempt, foldRun, TERMINAL_EVENTS } from '../../../src/core/state/fold-run.js';
import type { AttemptRow, ReportedOutcome, RunRow } from '../../../src/core/state/rows.js';
import { TERMINAL_RUN_STATES } from '../../../src/core/state/states.js';
import { EVENTS, type EventName } from '../../../src/core/events/index.js';
import { RUN, sampleEvent, SESSION, WORKER } from '../../support/sample-events.js';
import { at, folded, foldAll, type Step } from './support.js';

type TerminalEvent = keyof typeof TERMINAL_EVENTS;
const ENDS = Object.keys(TERMINAL_EVENTS) as TerminalEvent[];

const queued: RunRow = {
  session_id: SESSION,
  worker_id: WORKER,
  run_id: RUN,
  number: 1,
  state: 'queued',
  message_id: 'message-1',
  nonce: 'n0nce',
  retry_of: null,
  parent_run_id: null,
  timeout_ms: null,
  retries: 0,
  fallbacks: [],
  executor: 'pool',
  agent: null,
  failed_attempts: 0,
  attempts: 0,
  attempt_id: null,
  waiting_kind: null,
  waiting_text: null,
  reported: [],
  reports_returned: 0,
  nudges: 0,
  cancel_requested_at: null,
  stalled_since: null,
  stalled_line: null,
  summary: '',
  failure_code: null,
  evidence: null,
  created_at: at(0),
  started_at: null,
  ended_at: null,
  updated_at: at(0),
};

const running = { state: 'running', attempts: 1, attempt_id: 'attempt-1', started_at: at(1) } as const;
const asks = { waiting_kind: 'question', waiting_text: 'Which one?' } as const;
const report = (step: number, change: Partial<ReportedOutcome> = {}): ReportedOutcome => ({
  state: 'succeeded',
  summary: 'written',
  evidence: 'protocol',
  at: at(step),
  ...change,
});

describe('a run', () => {
  it('begins queued', () => {
    expect(foldAll(foldRun, ['run.queued'])).toEqual(queued);
  });

  it.each<[string, Step[], Partial<RunRow>]>([
    ['starts', ['run.started'], { ...running }],
    [
      'is known by whose process it is',
      [sampleEvent('run.started', { agent: 'one' })],
      { ...running, agent: 'one' },
    ],
    ['is given to another agent', ['run.started', 'worker.switched'], { ...running, agent: 'other' }],
    ['waits with its question', ['run.started', 'run.waiting'], { ...running, ...asks, state: 'waiting' }],
    [
      'goes on as soon as an instruction is accepted for it',
      ['run.started', 'run.waiting', sampleEvent('message.accepted', { kind: 'follow_up' })],
      { ...running },
    ],
    [
      'is still waiting after a nudge',
      ['run.started', 'run.waiting', sampleEvent('message.accepted', { kind: 'nudge' })],
      { ...running, ...asks, state: 'waiting', nudges: 1 },
    ],
    [
      'goes on when the gate of the agent was passed',
      ['run.started', sampleEvent('run.waiting', { kind: 'permission' }), 'worker.working'],
      { ...running },
    ],
    [
      'keeps the time of its first start',
      ['run.started', 'run.attempt_failed', sampleEvent('run.started', { attempt: 2, attempt_id: 'a2' })],
      { ...running, attempts: 2, attempt_id: 'a2', failed_attempts: 1 },
    ],
    [
      'is queued again after a failed attempt',
      ['run.started', 'run.waiting', 'run.attempt_failed'],
      { ...running, state: 'queued', failed_attempts: 1 },
    ],
    [
      'has used up no retry by an attempt that does not count',
      ['run.started', sampleEvent('run.attempt_failed', { counts: false })],
      { ...running, state: 'queued' },
    ],
    [
      'is stalled since the last sign of its agent',
      ['run.started', 'run.stalled'],
      { ...running, stalled_since: '2026-01-01T00:00:00.000Z', stalled_line: 'running the tests' },
    ],
    ['moves again', ['run.started', 'run.stalled', 'run.moved'], { ...running }],
    [
      'is not stalled while it waits for somebody',
      ['run.started', 'run.stalled', 'run.waiting'],
      { ...running, ...asks, state: 'waiting' },
    ],
    [
      'is not stalled while it waits for its next attempt',
      ['run.started', 'run.stalled', 'run.attempt_failed'],
      { ...running, state: 'queued', failed_attempts: 1 },
    ],
    [
      'keeps accepted reports in order',
      ['run.reported', sampleEvent('run.reported', { state: 'failed' }, { evidence: 'flag' })],
      { reported: [report(1), report(2, { state: 'failed', evidence: 'flag' })] },
    ],
    [
      'counts reports that were sent back',
      [sampleEvent('run.reported', { accepted: false })],
      { reports_returned: 1 },
    ],
    [
      'counts nudges, which keep what was reported',
      ['run.reported', sampleEvent('message.accepted', { kind: 'nudge' })],
      { reported: [report(1)], nudges: 1 },
    ],
    [
      'is re-armed by a later instruction',
      [
        'run.reported',
        sampleEvent('run.reported', { accepted: false }),
        sampleEvent('message.accepted', { kind: 'nudge' }),
        sampleEvent('message.accepted', { kind: 'follow_up' }),
      ],
      {},
    ],
    [
      'keeps when cancelling was asked first',
      ['run.cancel_requested', 'run.cancel_requested'],
      { cancel_requested_at: at(1) },
    ],
  ])('%s', (_what, steps, change) => {
    expect(foldAll(foldRun, ['run.queued', ...steps])).toEqual({
      ...queued,
      updated_at: at(steps.length),
      ...change,
    });
  });

  it.each(ENDS)('ends by %s with the evidence of that event', (type) => {
    const end = sampleEvent(type, { summary: 'so' }, { evidence: 'sentinel' });
    expect(foldAll(foldRun, ['run.queued', 'run.started', 'run.waiting', end])).toEqual({
      ...queued,
      ...running,
      state: TERMINAL_EVENTS[type],
      summary: 'so',
      failure_code: type === 'run.failed' ? 'AGENT_EXITED' : null,
      evidence: 'sentinel',
      ended_at: at(3),
      updated_at: at(3),
    });
  });

  it('has one terminal event for each terminal state', () => {
    expect(Object.values(TERMINAL_EVENTS)).toEqual(TERMINAL_RUN_STATES);
  });

  it.each(ENDS)('is final after %s: no event changes it', (type) => {
    const row = folded(foldRun, ['run.queued', type]);
    const others = (Object.keys(EVENTS) as EventName[]).filter((name) => name !== 'run.queued');
    for (const other of others) expect(foldAll(foldRun, [other], row)).toBe(row);
  });

  it('with an open question is not taken up by an agent that works on', () => {
    const row = folded(foldRun, ['run.queued', 'run.started', 'run.waiting']);
    expect(foldAll(foldRun, ['worker.working'], row)).toBe(row);
  });

  it('is left as it is by what says nothing about it', () => {
    const row = folded(foldRun, ['run.queued', 'run.started']);
    expect(foldAll(foldRun, ['worker.working', 'message.typed', 'text.completed'], row)).toBe(row);
  });
});

describe('an attempt', () => {
  const started: AttemptRow = {
    attempt_id: 'attempt-1',
    session_id: SESSION,
    worker_id: WORKER,
    run_id: RUN,
    number: 1,
    state: 'starting',
    pid: null,
    pid_started_at: null,
    exit_status: null,
    started_at: at(0),
    ended_at: null,
  };
  const alive = { state: 'running', pid: 500, pid_started_at: '7777' } as const;

  it.each<[string, Step[], Partial<AttemptRow>]>([
    ['begins before its process', ['run.started'], {}],
    ['runs once its process is known', ['run.started', 'worker.started'], alive],
    [
      'ends with the status of its process',
      ['run.started', 'worker.started', sampleEvent('worker.exited', { status: null })],
      { ...alive, state: 'ended', ended_at: at(2) },
    ],
    [
      'stays ended when its start is told last',
      ['run.started', sampleEvent('worker.exited', { status: null }), 'worker.started'],
      { ...alive, state: 'ended', ended_at: at(1) },
    ],
  ])('%s', (_what, steps, change) => {
    expect(foldAll(foldAttempt, steps)).toEqual({ ...started, ...change });
  });

  it('is not made by a run that goes on in the running process', () => {
    expect(foldAll(foldAttempt, [sampleEvent('run.started', { new_process: false }), 'worker.exited'])).toBe(
      null,
    );
  });
});
