import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import Database from 'better-sqlite3';
import { PROJECTIONS, type TableName } from '../../../src/core/state/projections.js';
import { COLUMNS } from '../../../src/store/columns.js';
import { NOT_FOLDED } from '../../../src/store/verify-rebuild.js';
import { sampleEvent } from '../../support/sample-events.js';
import { createStoreWorld, type StoreWorld } from './harness.js';

let world: StoreWorld;

beforeEach(() => {
  world = createStoreWorld();
  world.open().close();
});
afterEach(() => world.close());

const FIRST_EVENTS = {
  sessions: 'session.created',
  workers: 'worker.created',
  runs: 'run.queued',
  attempts: 'run.started',
  messages: 'message.accepted',
  verifications: 'verify.started',
} as const satisfies Record<TableName, string>;

const TABLES = Object.keys(PROJECTIONS) as TableName[];

function query(sql: string): unknown[] {
  const connection = new Database(world.path);
  try {
    return connection.prepare(sql).pluck().all();
  } finally {
    connection.close();
  }
}

function firstRow(table: TableName): Record<string, unknown> {
  const event = {
    ...sampleEvent(FIRST_EVENTS[table]),
    seq: 1,
    at: '2026-01-01T00:00:00.000Z',
    v: 1,
  };
  return PROJECTIONS[table].fold(null, event) as unknown as Record<string, unknown>;
}

describe.each(TABLES)('the table %s', (table) => {
  it('has a column for every field that its fold makes, and no other', () => {
    const fields = Object.keys(firstRow(table)).sort();
    expect(Object.keys(COLUMNS[table]).sort()).toEqual(fields);
    expect(query(`SELECT name FROM pragma_table_info('${table}') ORDER BY name`)).toEqual(fields);
  });

  it('lets a column be null exactly where its type in the schema says so, and is strict about types', () => {
    const row = firstRow(table);
    const mayBeNull = query(`SELECT name FROM pragma_table_info('${table}') WHERE "notnull" = 0 AND pk = 0`);
    const isNull = Object.keys(row).filter((field) => row[field] === null);
    expect(mayBeNull).toEqual(expect.arrayContaining(isNull));
    expect(query(`SELECT strict FROM pragma_table_list WHERE name = '${table}'`)).toEqual([1]);
  });

  it('is keyed as its projection says', () => {
    const key = query(`SELECT name FROM pragma_table_info('${table}') WHERE pk > 0 ORDER BY pk`);
    expect(key).toEqual(PROJECTIONS[table].key);
  });
});

it('every other table is named as one that is not a fold', () => {
  const tables = query("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
  expect(tables).toEqual([...TABLES, ...NOT_FOLDED].sort());
});
