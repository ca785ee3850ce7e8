import type { Statement } from 'better-sqlite3';
import type { Connection } from './connection.js';
import { translateSqliteError } from './sqlite-errors.js';

export type SqlValue = string | number | null;
export type SqlRow = Record<string, SqlValue>;

/** One connection, with statements prepared when first used and SQLite's errors translated. */
export interface Sql {
  get(text: string, ...values: SqlValue[]): SqlRow | undefined;
  all(text: string, ...values: SqlValue[]): SqlRow[];
  run(text: string, ...values: SqlValue[]): { changes: number; lastInsertRowid: number };
  /** BEGIN IMMEDIATE … COMMIT; inside another one a savepoint. Throwing undoes what `work` did. */
  transaction<T>(work: () => T): T;
  /** Everything `work` reads is of one moment. */
  snapshot<T>(work: () => T): T;
  inTransaction(): boolean;
}

export function createSql(connection: Connection, path: string): Sql {
  const statements = new Map<string, Statement<SqlValue[], SqlRow>>();
  const statement = (text: string) => {
    const known = statements.get(text);
    if (known !== undefined) return known;
    const made = connection.prepare<SqlValue[], SqlRow>(text);
    statements.set(text, made);
    return made;
  };
  const translated = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw translateSqliteError(path, error);
    }
  };
  const atomically = connection.transaction((work: () => unknown) => work());
  return {
    get: (text, ...values) => translated(() => statement(text).get(...values)),
    all: (text, ...values) => translated(() => statement(text).all(...values)),
    run: (text, ...values) =>
      translated(() => {
        const { changes, lastInsertRowid } = statement(text).run(...values);
        return { changes, lastInsertRowid: Number(lastInsertRowid) };
      }),
    transaction: <T>(work: () => T) => translated(() => atomically.immediate(work) as T),
    // Deferred is safe here, and only here: a transaction that never writes cannot run into SQLITE_BUSY_SNAPSHOT.
    snapshot: <T>(work: () => T) => translated(() => atomically.deferred(work) as T),
    inTransaction: () => connection.inTransaction,
  };
}
