import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import Database from 'better-sqlite3';
import { TERMINAL_EVENTS } from '../../../src/core/state/fold-run.js';
import type { Transaction } from '../../../src/store/contract.js';
import { RUN, sampleEvent, sampleRun, SESSION, WORKER } from '../../support/sample-events.js';
import { createStoreWorld, type StoreWorld } from './harness.js';

let world: StoreWorld;

beforeEach(() => {
  world = createStoreWorld();
});
afterEach(() => world.close());

describe('a transaction', () => {
  it('sees its own rows, and leaves nothing when it throws', () => {
    const store = world.open();
    store.append(...sampleRun());
    const before = store.rows('workers');
    expect(() =>
      store.transaction((tx) => {
        tx.append(sampleEvent('worker.waiting'));
        expect(tx.worker(SESSION, WORKER)?.state).toBe('waiting');
        tx.remember('scope', 'key', 'hash', 1);
        throw new Error('changed my mind');
      }),
    ).toThrow('changed my mind');
    expect(store.rows('workers')).toEqual(before);
    expect(store.head()).toBe(7);
    expect(store.transaction((tx) => tx.recall('scope', 'key', 'hash'))).toBe(null);
    expect(store.append(sampleEvent('worker.idle')).map((event) => event.seq)).toEqual([8]);
  });

  it('joins the outer one: an inner failure that is caught undoes the inner part, an outer one everything', () => {
    const store = world.open();
    const types: string[] = [];
    store.subscribe(0, (event) => void types.push(event.type));
    store.transaction((tx) => {
      tx.append(sampleEvent('session.created'));
      expect(() =>
        store.transaction((inner) => {
          inner.append(sampleEvent('session.paused'));
          throw new Error('inner');
        }),
      ).toThrow('inner');
      store.append(sampleEvent('progress.reported'));
      expect(types).toEqual([]);
    });
    expect(types).toEqual(['session.created', 'progress.reported']);
    expect(() =>
      store.transaction(() => {
        store.append(sampleEvent('session.paused'));
        throw new Error('outer');
      }),
    ).toThrow('outer');
    expect(store.events({ after: 0, limit: 9 }).map((event) => event.type)).toEqual(types);
    expect(store.session(SESSION)?.state).toBe('active');
    expect(store.verifyRebuild()).toEqual([]);
  });

  it('of several events is all or nothing, even where the failure is caught inside', () => {
    const store = world.open();
    store.transaction((tx) => {
      const broken = sampleEvent('worker.created', { task: 7 as unknown as string });
      expect(() => tx.append(sampleEvent('session.created'), broken)).toThrow('task');
    });
    expect(store.head()).toBe(0);
    expect(store.rows('sessions')).toEqual([]);
  });

  it('refuses to be awaited in, or used after its end', () => {
    const store = world.open();
    expect(() => store.transaction(() => Promise.resolve())).toThrow('promise');
    let kept: Transaction | undefined;
    store.transaction((tx) => (kept = tx));
    expect(() => kept?.append(sampleEvent('session.created'))).toThrow('over');
    expect(() => kept?.remember('scope', 'key', 'hash', 1)).toThrow('over');
    expect(() => kept?.recall('scope', 'key', 'hash')).toThrow('over');
  });
});

describe('an appended event', () => {
  it('comes back as it was stored: numbered, timed by the clock, without what the table does not know', () => {
    const store = world.open({ clock: { now: () => Date.UTC(2026, 0, 2), after: () => () => {} } });
    const [stored] = store.append(
      sampleEvent('session.paused', { reason: 'x', extra: 1 } as { reason: string }),
    );
    expect(stored).toEqual({
      seq: 1,
      at: '2026-01-02T00:00:00.000Z',
      type: 'session.paused',
      session_id: SESSION,
      source: 'supervisor',
      evidence: 'protocol',
      v: 1,
      data: { reason: 'x' },
    });
    expect(store.events({ after: 0, limit: 1 })).toEqual([stored]);
  });

  it.each([
    ['of data that does not fit', sampleEvent('session.paused', { reason: 7 as unknown as string })],
    ['of unknown evidence', sampleEvent('session.paused', {}, { evidence: 'rumour' as 'flag' })],
    ['of a worker that does not exist', sampleEvent('run.queued')],
  ])('is refused with a plain error when it is %s', (_what, event) => {
    const store = world.open();
    expect(() => store.append(event)).toThrow(Error);
    expect(store.head()).toBe(0);
  });

  it('keeps any text: quotes, NUL, all planes; half a surrogate pair becomes the replacement character', () => {
    const store = world.open();
    const goal = 'it\'s "x" \\ud800 \u0000 \u{1F600} \u2028';
    store.append(sampleEvent('session.created', { goal: `${goal}\ud83d`, options: { deep: ['\ude00'] } }));
    expect(store.session(SESSION)).toMatchObject({ goal: `${goal}\ufffd`, options: { deep: ['\ufffd'] } });
    expect(store.verifyRebuild()).toEqual([]);
  });
});

describe('the end of a run', () => {
  it.each(Object.entries(TERMINAL_EVENTS))(
    '%s is final: a second end of any kind is refused',
    (type, state) => {
      const store = world.open();
      store.append(...sampleRun(), sampleEvent(type as keyof typeof TERMINAL_EVENTS));
      for (const second of Object.keys(TERMINAL_EVENTS) as (keyof typeof TERMINAL_EVENTS)[]) {
        expect(() => store.append(sampleEvent(second))).toThrow(`has already ended (${state})`);
      }
      store.append(sampleEvent('run.started'), sampleEvent('run.waiting'), sampleEvent('run.attempt_failed'));
      expect(store.run(RUN)?.state).toBe(state);
      expect(store.events({ after: 8, limit: 9 })).toHaveLength(3);
      expect(store.verifyRebuild()).toEqual([]);
    },
  );

  it('cannot be undone by SQL or by queueing the same run again', () => {
    const store = world.open();
    store.append(...sampleRun(), sampleEvent('run.blocked'));
    expect(() => store.append(sampleEvent('run.queued'))).toThrow('final');
    const raw = new Database(world.path);
    expect(() => raw.exec("UPDATE runs SET state = 'running'")).toThrow('final');
    raw.close();
    expect(store.run(RUN)?.state).toBe('blocked');
  });
});

describe('an idempotency key', () => {
  it('replays the first answer for the same input and refuses other input', () => {
    const store = world.open();
    store.transaction((tx) => {
      expect(tx.recall('spawn', 'key', 'hash-1')).toBe(null);
      tx.remember('spawn', 'key', 'hash-1', { worker: 'w01', list: [1, null] });
    });
    const other = world.open();
    expect(other.transaction((tx) => tx.recall('spawn', 'key', 'hash-1'))).toEqual({
      result: { worker: 'w01', list: [1, null] },
    });
    expect(() => other.transaction((tx) => tx.recall('spawn', 'key', 'hash-2'))).toThrow(
      expect.objectContaining({ code: 'IDEMPOTENCY_KEY_REUSED' }) as Error,
    );
    expect(other.transaction((tx) => tx.recall('send', 'key', 'hash-2'))).toBe(null);
  });

  it('is remembered once, also for an answer of nothing', () => {
    const store = world.open();
    store.transaction((tx) => tx.remember('spawn', 'key', 'hash', undefined));
    expect(store.transaction((tx) => tx.recall('spawn', 'key', 'hash'))).toEqual({ result: null });
    expect(() => store.transaction((tx) => tx.remember('spawn', 'key', 'hash', 1))).toThrow('UNIQUE');
  });
});
