import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Sql } from '../../../src/store/sql.js';
import { queryEvents } from '../../../src/store/event-log.js';
import { sampleEvent } from '../../support/sample-events.js';
import { createStoreWorld, type StoreWorld } from './harness.js';

let world: StoreWorld;
beforeEach(() => {
  world = createStoreWorld();
});
afterEach(() => world.close());

it('of several sessions come in the order of the log, page by page', () => {
  const store = world.open();
  const ids = ['a', 'b', 'c', 'd'];
  for (const session_id of ids) store.append(sampleEvent('session.created', {}, { session_id }));
  for (let i = 0; i < 40; i += 1)
    store.append(
      sampleEvent('progress.reported', { message: `${i}` }, { session_id: ids[(i * 7) % 4] ?? '' }),
    );
  const all = store.events({ after: 0 });
  expect(all).toHaveLength(44);
  const wanted = all.filter(({ session_id: id }) => id === 'b' || id === 'd');
  const sessionIds = ['d', 'nobody', 'b'];
  expect(store.events({ after: 0, sessionIds })).toEqual(wanted);
  const paged = [];
  for (let page = store.events({ after: 0, sessionIds, limit: 5 }); page.length > 0;) {
    paged.push(...page);
    page = store.events({ after: page.at(-1)?.seq ?? 0, sessionIds, limit: 5 });
  }
  expect(paged).toEqual(wanted);
  expect(store.events({ after: 0, sessionIds, types: ['session.created'] })).toHaveLength(2);
  expect(store.events({ after: 0, sessionIds: [] })).toEqual([]);
  const hundred = Array.from({ length: 100 }, (_, i) => (i < 4 ? (ids[i] ?? '') : `nobody-${i}`));
  expect(store.events({ after: 0, sessionIds: hundred })).toEqual(all);
});

it.each([
  ['one session', { sessionId: 'a' }],
  ['three sessions', { sessionIds: ['a', 'b', 'c'] }],
])('a page of %s reads no event of another, and sorts none', (_, which) => {
  world.open().close();
  const connection = new Database(world.path);
  const plan: string[] = [];
  const explaining = {
    all(text: string, ...values: unknown[]) {
      const rows = connection.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...values) as { detail: string }[];
      plan.push(...rows.map(({ detail }) => detail));
      return [];
    },
  } as unknown as Sql;
  queryEvents(explaining, { after: 5, limit: 100, ...which });
  connection.close();
  expect(new Set(plan.filter((step) => step.includes('events')))).toEqual(
    new Set(['SEARCH events USING INDEX events_by_session (session_id=? AND rowid>?)']),
  );
  expect(plan.filter((step) => step.includes('TEMP B-TREE'))).toEqual([]);
});
