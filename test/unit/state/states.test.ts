import { describe, expect, it } from 'vitest';
import {
  EVIDENCE,
  evidenceRank,
  EXITED_WITHOUT_REPORT,
  isLiveWorker,
  isTerminalRun,
  RUN_STATES,
  TERMINAL_RUN_STATES,
  WORKER_STATES,
  workerWord,
  type RunState,
  type WorkerState,
  type WorkerWord,
} from '../../../src/core/state/states.js';

const run = (state: RunState, failure_code: string | null = null) => ({ state, failure_code });

describe('the word for a worker', () => {
  it.each<[RunState, WorkerWord]>([
    ['succeeded', 'done'],
    ['blocked', 'blocked'],
    ['failed', 'failed'],
    ['timed_out', 'failed'],
    ['cancelled', 'killed'],
    ['interrupted', 'orphaned'],
  ])('is, whatever its own state, that of its last run: %s → %s', (state, word) => {
    for (const worker of WORKER_STATES) expect(workerWord(worker, run(state))).toBe(word);
  });

  it.each<[WorkerState, WorkerWord]>([
    ['starting', 'starting'],
    ['idle', 'idle'],
    ['working', 'running'],
    ['waiting', 'waiting'],
    ['exited', 'exited'],
    ['lost', 'orphaned'],
  ])('is that of its own state while no run has ended: %s → %s', (worker, word) => {
    const open = RUN_STATES.filter((state) => !isTerminalRun(state));
    expect(open).toEqual(['queued', 'running', 'waiting']);
    for (const lastRun of [null, ...open.map((state) => run(state))])
      expect(workerWord(worker, lastRun)).toBe(word);
  });

  it('says exited, not failed, of an agent that ended without a report, and only then', () => {
    expect(workerWord('exited', run('failed', EXITED_WITHOUT_REPORT))).toBe('exited');
    expect(workerWord('exited', run('failed', 'OTHER'))).toBe('failed');
    expect(workerWord('exited', run('interrupted', EXITED_WITHOUT_REPORT))).toBe('orphaned');
  });
});

it('six run states are terminal', () => {
  expect(RUN_STATES.filter(isTerminalRun)).toEqual(TERMINAL_RUN_STATES);
});

it('a worker is live until it has exited or is lost', () => {
  expect(WORKER_STATES.filter(isLiveWorker)).toEqual(['starting', 'idle', 'working', 'waiting']);
});

it('evidence is ranked strongest first', () => {
  const shuffled = [
    'silence',
    'operator',
    'flag',
    'protocol',
    'process',
    'screen',
    'sentinel',
    'transcript',
  ] as const;
  expect([...shuffled].sort((left, right) => evidenceRank(left) - evidenceRank(right))).toEqual(EVIDENCE);
  expect(EVIDENCE).toEqual([
    'operator',
    'protocol',
    'transcript',
    'flag',
    'sentinel',
    'screen',
    'process',
    'silence',
  ]);
});
