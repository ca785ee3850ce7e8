import { describe, expect, it } from 'vitest';
import {
  LIKELY_ISSUES,
  likelyIssue,
  RULES,
  type LikelyIssue,
  type Situation,
} from '../../../../src/services/gateway/diagnose/likely-issue.js';

const RUNNING: Situation = {
  ...{ state: 'running', executor: 'pool', ageS: 5, queuePosition: null },
  ...{ aliveWorkers: 4, busyWorkers: 1, maxConcurrency: 4, workerId: 'worker-1', workerAlive: true },
  ...{ pid: 17, pidAlive: true, otherOwner: null, behind: null, asksParent: false, openChildren: 0 },
  ...{ openTool: null, quietS: 1, waitingText: null, failureCode: null, words: '', hasThread: true },
};
const QUEUED: Partial<Situation> = {
  ...{ state: 'queued', queuePosition: 3, workerId: null, workerAlive: null, pid: null, pidAlive: null },
};
const failed = (words: string, more: Partial<Situation> = {}): Partial<Situation> => ({
  ...{ state: 'failed', pid: null, pidAlive: null, workerId: null, workerAlive: null, words },
  ...more,
});

/** The first rule that fits wins: of two that could, the one above is meant. */
const TABLE: readonly [LikelyIssue, string, Partial<Situation>][] = [
  ['none', 'it succeeded, whatever it said', { state: 'succeeded', words: '401' }],
  ['none', 'it runs and said something just now', {}],
  ['none', 'it was queued just now, and a place is free', QUEUED],
  ['external', 'something else does it', { ...QUEUED, executor: 'external', aliveWorkers: 0 }],
  ['worker_pool_dead', 'no place takes runs', { ...QUEUED, aliveWorkers: 0, busyWorkers: 4 }],
  ['worker_pool_dead', 'it runs while no place is alive', { aliveWorkers: 0 }],
  ['stale_daemon_run', 'another process has its session', { otherOwner: 99, pidAlive: false }],
  ['waiting_for_session_turn', 'one of its session is before it', { ...QUEUED, behind: 'r', busyWorkers: 4 }],
  ['queue_backlog', 'every place is taken', { ...QUEUED, busyWorkers: 4, ageS: 600 }],
  ['queued_unclaimed', 'a place is free for long', { ...QUEUED, ageS: 11 }],
  ['awaiting_parent', 'it asked its parent', { state: 'waiting', asksParent: true }],
  ['awaiting_answer', 'it waits for a person', { state: 'waiting', waitingText: 'allow?' }],
  ['worker_dead', 'its place is not alive', { workerAlive: false, pidAlive: false }],
  ['process_missing', 'its process is gone', { pidAlive: false, quietS: 500 }],
  ['awaiting_children', 'it waits on live children', { openChildren: 2, quietS: 61 }],
  [
    'awaiting_children',
    'its last tool is a wait',
    { openChildren: 1, openTool: { name: 'wait_for_run', forS: 200 } },
  ],
  ['tool_running_long', 'a tool runs for long', { openTool: { name: 'shell', forS: 121 }, quietS: 121 }],
  ['no_output', 'it is silent', { quietS: 121 }],
  ['provider_not_found', 'its program is not there', failed('', { failureCode: 'NO_AGENTS' })],
  ['provider_not_found', 'its process could not be found', failed('spawn thing ENOENT')],
  ['provider_auth', 'nobody is logged in', failed('HTTP 401: please log in')],
  ['rate_limited', 'its provider has enough', failed('429 Too Many Requests')],
  ['context_overflow', 'its conversation is too long', failed('prompt is too long: 250000 tokens')],
  ['resume_thread_missing', 'its conversation is unknown', failed('No conversation found with session ID x')],
  ['bad_profile_or_args', 'an argument is unknown', failed("error: unexpected argument '--x' found")],
  ['approval_blocked', 'something was not allowed', failed('the sandbox did not allow it')],
  ['approval_blocked', 'it is blocked by that', failed('permission denied', { state: 'blocked' })],
  ['timed_out', 'its time was over', failed('429', { state: 'timed_out' })],
  ['cancelled', 'it was cancelled', failed('401', { state: 'cancelled' })],
  ['interrupted', 'it was interrupted', failed('', { state: 'interrupted' })],
  ['provider_error', 'nothing else is known', failed('no such thing')],
];

describe('the likely issue of a run', () => {
  it.each(TABLE)('[37] is %s where %s', (issue, _what, change) => {
    expect(likelyIssue({ ...RUNNING, ...change }).likely_issue).toBe(issue);
  });

  it('has a case in this table for every value and every rule', () => {
    expect(new Set(TABLE.map(([issue]) => issue))).toEqual(new Set(LIKELY_ISSUES));
    const met = TABLE.map(([, , change]) => RULES.find(({ when }) => when({ ...RUNNING, ...change })));
    expect(new Set(met)).toEqual(new Set(RULES));
  });

  it('[36] of a backlog says the place in the queue, and what to do', () => {
    const { explanation, suggestions } = likelyIssue({ ...RUNNING, ...QUEUED, busyWorkers: 4 });
    expect(explanation).toContain('queue_position is 3');
    expect(suggestions).toContain('wait');
  });
});
