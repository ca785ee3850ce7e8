import { expect, it } from 'vitest';
import { EVENTS, type EventName } from '../../../src/core/events/index.js';
import {
  CHANGES_NO_ROW,
  PROJECTIONS,
  type Projection,
  type TableName,
} from '../../../src/core/state/projections.js';
import { RUN, sampleEvent, SESSION, WORKER } from '../../support/sample-events.js';

const NAMES = Object.keys(EVENTS) as EventName[];

function keysOf(table: TableName): Record<string, readonly string[]> {
  const entries = NAMES.map((name): [string, readonly string[] | null] => {
    const event = { ...sampleEvent(name), seq: 1, at: '', v: 1 };
    return [name, PROJECTIONS[table].keyOf(event)];
  });
  return Object.fromEntries(entries.filter((entry): entry is [string, string[]] => entry[1] !== null));
}

const of = (names: readonly string[], key: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, key]));

it('every event touches the row of its session', () => {
  expect(keysOf('sessions')).toEqual(of(NAMES, [SESSION]));
});

it('an event touches the run and the worker of its envelope; an integration the worker it names', () => {
  const events = NAMES.map((name) => ({ name, event: sampleEvent(name) }));
  const withRun = events.filter(({ event }) => event.run_id !== undefined).map(({ name }) => name);
  const withWorker = events.filter(({ event }) => event.worker_id !== undefined).map(({ name }) => name);
  expect(keysOf('runs')).toEqual(of(withRun, [RUN]));
  expect(keysOf('workers')).toEqual(of([...withWorker, 'branch.integrated'], [SESSION, WORKER]));
});

it.each([...CHANGES_NO_ROW])('%s changes no row that is there, and makes none', (name) => {
  const event = { ...sampleEvent(name), seq: 1, at: '', v: 1 };
  for (const { fold } of Object.values(PROJECTIONS as object) as Projection<{ state: string }>[]) {
    const row = { state: 'running' };
    expect(fold(row, event)).toBe(row);
    expect(fold(null, event)).toBeNull();
  }
});

it('attempts, messages and verifications are touched by the events that carry their id', () => {
  expect(keysOf('attempts')).toEqual(
    of(
      [
        'worker.started',
        'worker.ready',
        'worker.exited',
        'run.started',
        'run.attempt_failed',
        'run.attempt_ended',
      ],
      ['attempt-1'],
    ),
  );
  expect(keysOf('messages')).toEqual(
    of(
      NAMES.filter((name) => name.startsWith('message.')),
      ['message-1'],
    ),
  );
  expect(keysOf('verifications')).toEqual(
    of(['goal.done', 'verify.started', 'verify.passed', 'verify.failed'], ['v1']),
  );
});
