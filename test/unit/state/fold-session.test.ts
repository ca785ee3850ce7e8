import { expect, it } from 'vitest';
import { foldSession } from '../../../src/core/state/fold-session.js';
import type { SessionRow } from '../../../src/core/state/rows.js';
import { sampleEvent, SAMPLES, SESSION } from '../../support/sample-events.js';
import { at, folded, foldAll, type Step } from './support.js';

const created: SessionRow = {
  session_id: SESSION,
  ...SAMPLES['session.created'],
  state: 'active',
  summary: '',
  reason: null,
  tmux_socket: null,
  directory: null,
  integration_branch: null,
  integration_worktree: null,
  integration_commit: null,
  verdict: null,
  last_progress: null,
  applied: null,
  cleaned_at: null,
  created_at: at(0),
  updated_at: at(0),
  ended_at: null,
};

it('a session begins active, with what was decided before', () => {
  expect(foldAll(foldSession, ['session.created'])).toEqual(created);
});

it.each<[string, Step[], Partial<SessionRow>]>([
  [
    'an update sets what it names',
    [sampleEvent('session.updated', { tmux_socket: '/s' })],
    { directory: '/tmp/agentorchestr-3f2a91bc', tmux_socket: '/s' },
  ],
  [
    'a later update keeps what it does not name',
    [
      'session.updated',
      {
        ...sampleEvent('session.updated'),
        data: { integration_branch: 'b', integration_worktree: '/w' },
      } as Step,
    ],
    {
      directory: '/tmp/agentorchestr-3f2a91bc',
      integration_branch: 'b',
      integration_worktree: '/w',
      updated_at: at(2),
    },
  ],
  ['a pause says why', ['session.paused'], { state: 'paused', reason: 'asked' }],
  [
    'resuming forgets why',
    ['session.paused', 'session.resumed'],
    { state: 'active', reason: null, updated_at: at(2) },
  ],
  ['an end is timed', ['session.ended'], { state: 'done', summary: 'faster', ended_at: at(1) }],
  [
    'an end says how the result was applied',
    [sampleEvent('session.ended', { applied: 'fast-forward' })],
    { state: 'done', summary: 'faster', applied: 'fast-forward', ended_at: at(1) },
  ],
  [
    'an end may have a reason',
    [sampleEvent('session.ended', { state: 'timeout', reason: 'wall time' })],
    { state: 'timeout', summary: 'faster', reason: 'wall time', ended_at: at(1) },
  ],
  [
    'a session that is resumed after its end has not ended',
    ['session.ended', 'session.resumed'],
    { state: 'active', summary: 'faster', updated_at: at(2) },
  ],
  ['the lead says done', ['goal.done'], { verdict: 'done', summary: 'faster' }],
  ['the lead gives up', ['goal.failed'], { verdict: 'failed', summary: 'cannot be done' }],
  [
    'progress is the last one noted',
    ['progress.reported', sampleEvent('progress.reported', { message: 'nearly' })],
    { last_progress: 'nearly', updated_at: at(2) },
  ],
  ['an integration moves the integration branch', ['branch.integrated'], { integration_commit: 'c3' }],
])('%s', (_what, steps, change) => {
  expect(foldAll(foldSession, ['session.created', ...steps])).toEqual({
    ...created,
    updated_at: at(1),
    ...change,
  });
});

it('what concerns only a worker leaves the row itself', () => {
  const row = folded(foldSession, ['session.created']);
  expect(foldAll(foldSession, ['worker.working', 'run.queued', 'tmux.lost'], row)).toBe(row);
});

it('nothing exists before it is created', () => {
  expect(foldAll(foldSession, ['session.paused', 'goal.done'])).toBe(null);
});
