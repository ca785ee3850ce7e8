import { beforeEach, describe, expect, it } from 'vitest';
import { OpenEngines, type OpenEngine } from '../../../../src/services/gateway/open-engines.js';
import { createFakeClock, type FakeClock } from '../../../support/fake-clock.js';

const MINUTE = 60_000;

let clock: FakeClock;
let opened: string[];
let left: string[];
let busy: Set<string>;
let engines: OpenEngines;

beforeEach(() => {
  clock = createFakeClock();
  [opened, left, busy] = [[], [], new Set()];
  engines = new OpenEngines({
    clock,
    open: async (sessionId) => {
      opened.push(sessionId);
      if (sessionId === 'broken') throw new Error('not now');
      return {} as OpenEngine;
    },
    busy: () => busy,
    leave: (sessionId) => void left.push(sessionId),
  });
});

describe('the engine of a conversation', () => {
  it('is opened once for many that ask at the same time', async () => {
    const [one, two] = await Promise.all([engines.get('a'), engines.get('a')]);
    expect(one).toBe(two);
    expect(opened).toEqual(['a']);
  });

  it('is left when nothing was asked of it for a minute, and opened anew when something is', async () => {
    await engines.get('a');
    await clock.advance(2 * MINUTE);
    expect(left).toEqual(['a']);
    expect(engines.peek('a')).toBeNull();
    await engines.get('a');
    expect(opened).toEqual(['a', 'a']);
  });

  it('stays while its conversation has something to do, and while it is asked', async () => {
    await engines.get('busy');
    await engines.get('asked');
    busy.add('busy');
    for (let half = 0; half < 8; half++) {
      await clock.advance(MINUTE / 2);
      await engines.get('asked');
    }
    expect(left).toEqual([]);
    busy.clear();
    await clock.advance(2 * MINUTE);
    expect(left.toSorted()).toEqual(['asked', 'busy']);
  });

  it('that could not be opened is tried again by whoever asks next', async () => {
    await expect(engines.get('broken')).rejects.toThrow('not now');
    await expect(engines.get('broken')).rejects.toThrow('not now');
    expect(opened).toEqual(['broken', 'broken']);
  });

  it('costs no timer when none is open', async () => {
    await engines.get('a');
    await clock.advance(5 * MINUTE);
    expect(clock.pending()).toBe(0);
  });
});
