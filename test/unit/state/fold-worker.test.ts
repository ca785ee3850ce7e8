import { expect, it } from 'vitest';
import { foldWorker, workerOf } from '../../../src/core/state/fold-worker.js';
import type { NewEvent } from '../../../src/core/events/index.js';
import type { WorkerRow } from '../../../src/core/state/rows.js';
import { RUN, sampleEvent, SAMPLES, SESSION, WORKER } from '../../support/sample-events.js';
import { at, folded, foldAll, type Step } from './support.js';

const created: WorkerRow = {
  session_id: SESSION,
  worker_id: WORKER,
  ...SAMPLES['worker.created'],
  state: 'starting',
  waiting_kind: null,
  waiting_text: null,
  waiting_choices: null,
  waiting_hash: null,
  waiting_via: null,
  waiting_since: null,
  attempt_id: null,
  pane_id: null,
  window: null,
  thread_id: null,
  transcript_path: null,
  other_threads: {},
  last_run_id: null,
  integrated_commit: null,
  exit_status: null,
  output_tail: null,
  retired: false,
  created_at: at(0),
  updated_at: at(0),
};

const place = { attempt_id: 'attempt-1', pane_id: '%3', window: '@1' } as const;
const ready = { ...place, state: 'idle' } as const;
const waiting = {
  waiting_kind: 'permission',
  waiting_text: 'Run rm?',
  waiting_choices: [{ number: 1, label: 'Yes' }],
  waiting_hash: 'abc123',
  waiting_via: 'screen',
} satisfies Partial<WorkerRow>;

const bareWaiting = {
  ...sampleEvent('worker.waiting'),
  data: { kind: 'permission', text: 'Run rm?' },
} as NewEvent;

it('a worker begins as starting', () => {
  expect(foldAll(foldWorker, ['worker.created'])).toEqual(created);
});

it.each<[string, Step[], Partial<WorkerRow>]>([
  ['a started process has its place, and is not ready yet', ['worker.started'], { ...place }],
  ['ready is idle, in its pane', ['worker.started', 'worker.ready'], { ...ready }],
  ['it works', ['worker.started', 'worker.ready', 'worker.working'], { ...ready, state: 'working' }],
  [
    'work seen before it was found ready stands',
    ['worker.started', 'worker.working', 'worker.ready'],
    { ...place, state: 'working' },
  ],
  [
    'a question seen before it was found ready stands',
    ['worker.started', 'worker.waiting', 'worker.ready'],
    { ...place, ...waiting, waiting_since: at(2), state: 'waiting' },
  ],
  [
    'waiting keeps what the agent shows',
    ['worker.started', 'worker.ready', 'worker.waiting'],
    { ...ready, ...waiting, waiting_since: at(3), state: 'waiting' },
  ],
  [
    'another prompt of the same kind waits since it came',
    ['worker.waiting', sampleEvent('worker.waiting', { text: 'Run ls?', prompt_hash: 'def456' })],
    { ...waiting, waiting_text: 'Run ls?', waiting_hash: 'def456', waiting_since: at(2), state: 'waiting' },
  ],
  [
    'a prompt whose answers are told later waits since it was first seen',
    [bareWaiting, 'worker.waiting'],
    { ...waiting, waiting_since: at(1), state: 'waiting' },
  ],
  ['working again forgets what it waited for', ['worker.waiting', 'worker.working'], { state: 'working' }],
  ['idle forgets what it waited for', ['worker.waiting', 'worker.idle'], { state: 'idle' }],
  ['lost forgets what it waited for', ['worker.waiting', 'worker.lost'], { state: 'lost' }],
  [
    'an exit keeps status and last lines',
    ['worker.waiting', sampleEvent('worker.exited', { status: 3 })],
    { state: 'exited', exit_status: 3, output_tail: 'bye' },
  ],
  [
    'a restart clears status and retirement',
    ['worker.exited', 'worker.retired', 'run.started', 'worker.started', 'worker.ready'],
    { ...ready, output_tail: 'bye' },
  ],
  [
    'retired is beside the state',
    ['worker.exited', 'worker.retired'],
    { state: 'exited', exit_status: 0, output_tail: 'bye', retired: true },
  ],
  [
    'the conversation id is the last one opened',
    ['thread.opened', sampleEvent('thread.opened', { thread_id: 't2' })],
    { thread_id: 't2' },
  ],
  [
    'the transcript is that of the conversation',
    [sampleEvent('thread.opened', { transcript_path: '/t/1' }), 'thread.opened'],
    { thread_id: 'thread-1', transcript_path: '/t/1' },
  ],
  [
    'another conversation has another transcript, or none that is known',
    [
      sampleEvent('thread.opened', { transcript_path: '/t/1' }),
      sampleEvent('thread.opened', { thread_id: 't2' }),
    ],
    { thread_id: 't2' },
  ],
  [
    'another agent has a conversation of its own, and going back finds the first one',
    [
      sampleEvent('thread.opened', { transcript_path: '/t/1' }),
      sampleEvent('worker.switched', { from: 'scripted', agent: 'other' }),
      sampleEvent('thread.opened', { thread_id: 't2' }),
    ],
    {
      ...{ agent: 'other', thread_id: 't2' },
      other_threads: { scripted: { thread_id: 'thread-1', transcript_path: '/t/1', at: at(2) } },
    },
  ],
  [
    'who goes back to an agent goes on in its conversation',
    [
      sampleEvent('thread.opened', { transcript_path: '/t/1' }),
      sampleEvent('worker.switched', { from: 'scripted', agent: 'other' }),
      sampleEvent('worker.switched', { from: 'other', agent: 'scripted' }),
    ],
    { thread_id: 'thread-1', transcript_path: '/t/1' },
  ],
  ['a pane that was moved', ['worker.started', 'worker.moved'], { ...place, window: 'agentorchestr-2' }],
  ['a queued run is its last one', ['run.queued'], { last_run_id: RUN }],
  [
    'an attempt in a new process starts it again',
    ['worker.exited', 'run.started'],
    { state: 'starting', attempt_id: 'attempt-1', output_tail: 'bye' },
  ],
  ['integrated is the commit that was taken', ['branch.integrated'], { integrated_commit: 'b2' }],
])('%s', (_what, steps, change) => {
  expect(foldAll(foldWorker, ['worker.created', ...steps])).toEqual({
    ...created,
    updated_at: at(steps.length),
    ...change,
  });
});

it('an attempt in the running process, and messages, leave the row itself', () => {
  const row = folded(foldWorker, ['worker.created']);
  const steps = [
    sampleEvent('run.started', { new_process: false }),
    'message.typed',
    'run.succeeded',
  ] as const;
  expect(foldAll(foldWorker, steps, row)).toBe(row);
});

it('nothing exists before it is created', () => {
  expect(foldAll(foldWorker, ['worker.ready', 'worker.exited'])).toBe(null);
});

it('an integration is about the worker it names, anything else about its envelope', () => {
  const event = (name: 'branch.integrated' | 'worker.idle', worker_id: string) => ({
    ...sampleEvent(name, {}, { worker_id }),
    seq: 1,
    at: at(0),
    v: 1,
  });
  expect(workerOf(event('branch.integrated', 'lead'))).toBe('w01');
  expect(workerOf(event('worker.idle', 'w07'))).toBe('w07');
});
