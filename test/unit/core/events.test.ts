import { describe, expect, it } from 'vitest';
import { checkEvent, EVENTS, isDurable, type EventName } from '../../../src/core/events/index.js';
import { TERMINAL_EVENTS } from '../../../src/core/state/fold-run.js';
import { sampleEvent, SAMPLES } from '../../support/sample-events.js';

const NAMES = Object.keys(EVENTS) as EventName[];

it('deltas and redraws are ephemeral, every other event is durable', () => {
  expect(NAMES.filter((name) => !isDurable(name)).sort()).toEqual([
    'reasoning.delta',
    'screen.changed',
    'text.delta',
  ]);
});

it('what creates or ends something is synced to the disk', () => {
  const synced = NAMES.filter((name) => EVENTS[name].synced).sort();
  expect(synced).toEqual(
    [
      ...Object.keys(TERMINAL_EVENTS),
      'branch.integrated',
      'goal.done',
      'goal.failed',
      'result.applied',
      'session.cleaned',
      'session.created',
      'session.ended',
      'session.paused',
      'verify.passed',
      'work.salvaged',
      'worker.created',
    ].sort(),
  );
});

describe.each(NAMES)('%s', (name) => {
  it('is named <noun>.<past participle>, documented, and accepts its sample', () => {
    expect(name).toMatch(/^[a-z]+\.[a-z]+(_[a-z]+)*$/);
    expect(EVENTS[name].doc).toMatch(/^[A-Z].*[.…]$/);
    expect(() => checkEvent(sampleEvent(name))).not.toThrow();
  });
});

const WITH_DATA = NAMES.filter((name) => Object.keys(SAMPLES[name]).some((field) => field !== 'input'));

it.each(WITH_DATA)('%s is refused when a field is of another type', (name) => {
  for (const field of Object.keys(SAMPLES[name]).filter((key) => key !== 'input')) {
    const wrong = sampleEvent(name, { [field]: Symbol('wrong') });
    expect(() => checkEvent(wrong)).toThrow(field);
  }
});

it('evidence is one of the known words', () => {
  expect(() => checkEvent(sampleEvent('worker.idle', {}, { evidence: 'rumour' as 'flag' }))).toThrow(
    'rumour',
  );
});
