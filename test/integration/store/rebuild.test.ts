import Database from 'better-sqlite3';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { NewEvent, StoredEvent } from '../../../src/core/events/index.js';
import { PROJECTIONS, type Projection, type TableName } from '../../../src/core/state/projections.js';
import type { Store } from '../../../src/store/contract.js';
import { arbitraryHistory } from '../../support/arbitrary-events.js';
import { sampleEvent, sampleRun } from '../../support/sample-events.js';
import { createStoreWorld, type StoreWorld } from './harness.js';

let world: StoreWorld;

beforeEach(() => {
  world = createStoreWorld();
});
afterEach(() => world.close());

const TABLES = Object.keys(PROJECTIONS) as TableName[];

/** The rows as plain folds give them, without any SQL. */
function folded(events: readonly StoredEvent[], table: TableName): unknown[] {
  const projection = PROJECTIONS[table] as Projection<object>;
  const rows = new Map<string, object>();
  for (const event of events) {
    const key = projection.keyOf(event)?.join('/');
    if (key === undefined) continue;
    const row = projection.fold(rows.get(key) ?? null, event);
    if (row !== null) rows.set(key, row);
  }
  return [...rows.values()];
}

function rollBack(store: Store, events: readonly NewEvent[]): void {
  const failing = () =>
    store.transaction((tx) => {
      tx.append(...events);
      throw new Error('rolled back');
    });
  expect(failing).toThrow('rolled back');
}

/** Appends in groups of the given sizes; a negative size is a transaction that is rolled back first, then repeated. */
function appendGrouped(store: Store, history: readonly NewEvent[], sizes: readonly number[]): void {
  let done = 0;
  for (let turn = 0; done < history.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    const group = history.slice(done, done + Math.abs(size));
    if (size < 0) rollBack(store, group);
    store.transaction((tx) => group.forEach((event) => tx.append(event)));
    done += group.length;
  }
}

it('rows are folds of events: any history, in any transactions, rebuilds to the same rows', () => {
  let count = 0;
  const sizes = fc.array(
    fc.integer({ min: -6, max: 8 }).filter((size) => size !== 0),
    { minLength: 1, maxLength: 5 },
  );
  fc.assert(
    fc.property(arbitraryHistory(80), sizes, (history, groups) => {
      const store = world.open({ path: `${world.sandbox.root}/data/${(count += 1)}.db` });
      const live: unknown[] = [];
      store.subscribe(0, (event) => void live.push(event));
      appendGrouped(store, history, groups);
      const events = store.events({ after: 0, limit: 1_000 });
      expect(events.map((event) => event.type)).toEqual(history.map((event) => event.type));
      expect(live).toEqual(events);
      for (const table of TABLES) expect(store.rows(table)).toEqual(folded(events, table));
      expect(store.verifyRebuild()).toEqual([]);
      store.close();
    }),
    { numRuns: 40 },
  );
}, 120_000);

describe('verifyRebuild names', () => {
  const tampered = (sql: string): readonly string[] => {
    const store = world.open();
    store.append(...sampleRun(), sampleEvent('verify.started'), sampleEvent('run.succeeded'));
    expect(store.verifyRebuild()).toEqual([]);
    new Database(world.path).exec(sql).close();
    return store.verifyRebuild();
  };

  it.each(TABLES)('a row of %s that is missing', (table) => {
    expect(tampered(`PRAGMA foreign_keys = OFF; DELETE FROM ${table}`)).toEqual([
      expect.stringMatching(new RegExp(`^${table} .+: missing$`)),
    ]);
  });

  it('the fields of a row that differ', () => {
    expect(tampered(`UPDATE workers SET state = 'lost', retired = 1`)).toEqual([
      'workers 3f2a91bc/w01: state, retired',
    ]);
  });

  it('a row that the log does not tell of', () => {
    const sql = `INSERT INTO verifications SELECT 'v9', session_id, "commit", state, nothing_to_verify, commands, results, reason, started_at, ended_at FROM verifications`;
    expect(tampered(sql)).toEqual(['verifications v9: not in the log']);
  });

  it('a log that says something else', () => {
    const sql = `UPDATE events SET data = json_set(data, '$.summary', 'x') WHERE type = 'run.succeeded'`;
    expect(tampered(sql)).toEqual([expect.stringMatching(/^runs .*: summary$/)]);
  });

  it('a table that nobody declared; leases and idempotency keys are declared', () => {
    const sql = `CREATE TABLE stray (x TEXT); INSERT INTO leases VALUES ('3f2a91bc', 1, '1', 'x');
      INSERT INTO idempotency_keys VALUES ('a', 'b', 'c', '1')`;
    expect(tampered(sql)).toEqual(['stray: neither a fold nor declared not to be one']);
  });
});
