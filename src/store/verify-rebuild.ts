import { isDeepStrictEqual } from 'node:util';
import type { Rows, TableName } from '../core/state/projections.js';
import { createSql, type Sql } from './sql.js';
import { openEmptyDatabase } from './database.js';
import { queryEvents } from './event-log.js';
import { project } from './project.js';
import { createTables, TABLE_NAMES, type Table, type Tables } from './table.js';

/** Tables that are not folds of events, by name: the log, the schema's history, and what is about processes and calls. */
export const NOT_FOLDED: readonly string[] = ['events', 'migrations', 'leases', 'idempotency_keys'];

const PAGE_SIZE = 1_000;

export function verifyRebuild(sql: Sql, tables: Tables, path: string): string[] {
  const connection = openEmptyDatabase(path);
  try {
    const copy = createTables(createSql(connection, path));
    return sql.snapshot(() => {
      replay(sql, copy);
      return [...undeclaredTables(sql), ...TABLE_NAMES.flatMap((name) => compare(name, tables, copy))];
    });
  } finally {
    connection.close();
  }
}

function replay(sql: Sql, copy: Tables): void {
  for (let after = 0; ;) {
    const page = queryEvents(sql, { after, limit: PAGE_SIZE });
    for (const event of page) project(copy, event);
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.seq;
  }
}

function undeclaredTables(sql: Sql): string[] {
  const declared = new Set<string>([...TABLE_NAMES, ...NOT_FOLDED]);
  const found = sql
    .all("SELECT name FROM sqlite_schema WHERE type = 'table'")
    .map((row) => String(row['name']));
  return found
    .filter((name) => !declared.has(name))
    .map((name) => `${name}: neither a fold nor declared not to be one`);
}

function compare<Name extends TableName>(name: Name, stored: Tables, rebuilt: Tables): string[] {
  const storedRows = byKey<Rows[Name]>(stored[name]);
  const rebuiltRows = byKey<Rows[Name]>(rebuilt[name]);
  const differences: string[] = [];
  for (const key of new Set([...storedRows.keys(), ...rebuiltRows.keys()])) {
    const left = storedRows.get(key);
    const right = rebuiltRows.get(key);
    if (left === undefined) differences.push(`${name} ${key}: missing`);
    else if (right === undefined) differences.push(`${name} ${key}: not in the log`);
    else {
      const fields = Object.keys(left).filter((field) => !isDeepStrictEqual(left[field], right[field]));
      if (fields.length > 0) differences.push(`${name} ${key}: ${fields.join(', ')}`);
    }
  }
  return differences;
}

function byKey<Row>(table: Table<Row>): Map<string, Record<string, unknown>> {
  const rows = table.select('true ORDER BY rowid') as Record<string, unknown>[];
  return new Map(rows.map((row) => [table.key.map((field) => String(row[field])).join('/'), row]));
}
