import { PROJECTIONS, type Rows, type TableName } from '../core/state/projections.js';
import { COLUMNS, type ColumnKind } from './columns.js';
import type { Sql, SqlRow, SqlValue } from './sql.js';

/** One folded table, generated from its projection's key and its declared columns. */
export interface Table<Row> {
  readonly key: readonly string[];
  find(key: readonly string[]): Row | null;
  /** Rows for a condition like `"session_id" = ? ORDER BY rowid`; rowid is the order of creation. */
  select(condition: string, ...values: SqlValue[]): Row[];
  put(row: Row): void;
}

export type Tables = { readonly [Name in TableName]: Table<Rows[Name]> };

export const TABLE_NAMES = Object.keys(PROJECTIONS) as readonly TableName[];

export function createTables(sql: Sql): Tables {
  return Object.fromEntries(TABLE_NAMES.map((name) => [name, createTable(sql, name)])) as unknown as Tables;
}

function createTable<Name extends TableName>(sql: Sql, name: Name): Table<Rows[Name]> {
  const kinds: Readonly<Record<string, ColumnKind>> = COLUMNS[name];
  const columns = Object.entries(kinds);
  const key: readonly string[] = PROJECTIONS[name].key;
  const list = columns.map(([column]) => quote(column)).join(', ');
  const changes = columns
    .filter(([column]) => !key.includes(column))
    .map(([column]) => `${quote(column)} = excluded.${quote(column)}`);
  const find = `SELECT ${list} FROM ${name} WHERE ${key.map((column) => `${quote(column)} = ?`).join(' AND ')}`;
  const put =
    `INSERT INTO ${name} (${list}) VALUES (${columns.map(() => '?').join(', ')})` +
    ` ON CONFLICT (${key.map(quote).join(', ')}) DO UPDATE SET ${changes.join(', ')}`;
  const decode = (found: SqlRow) =>
    Object.fromEntries(
      columns.map(([column, kind]) => [column, decodeValue(kind, found[column] ?? null)]),
    ) as unknown as Rows[Name];
  return {
    key,
    find(values) {
      const found = sql.get(find, ...values);
      return found === undefined ? null : decode(found);
    },
    select: (condition, ...values) =>
      sql.all(`SELECT ${list} FROM ${name} WHERE ${condition}`, ...values).map(decode),
    put(row) {
      const fields = row as unknown as Record<string, unknown>;
      for (const field of Object.keys(fields))
        if (!(field in kinds)) throw new Error(`${name} has no column for the field "${field}"`);
      sql.run(
        put,
        ...columns.map(([column, kind]) => encodeValue(kind, fields[column], `${name}.${column}`)),
      );
    },
  };
}

/** `commit` and `window` are words of SQL. */
function quote(column: string): string {
  return `"${column}"`;
}

function encodeValue(kind: ColumnKind, value: unknown, where: string): SqlValue {
  if (value === null) return null;
  if (kind === 'json' && value !== undefined) return JSON.stringify(value);
  if (kind === 'boolean' && typeof value === 'boolean') return value ? 1 : 0;
  if (kind === 'number' && typeof value === 'number') return value;
  if (kind === 'text' && typeof value === 'string') return value;
  throw new Error(`${where} holds ${kind}, not ${typeof value}`);
}

function decodeValue(kind: ColumnKind, value: SqlValue): unknown {
  if (value === null) return null;
  if (kind === 'json') return JSON.parse(String(value));
  return kind === 'boolean' ? value === 1 : value;
}
