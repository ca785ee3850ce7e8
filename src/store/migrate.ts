import type { Connection } from './connection.js';
import { MIGRATIONS, type Migration } from './migrations/index.js';
import { storeUnavailable } from './sqlite-errors.js';

/**
 * Brings the schema to the newest version, in one transaction. Many processes may do so at the same time: the version
 * is read again under the write lock. Throws STORE_UNAVAILABLE for a newer schema and for somebody else's database.
 */
export function migrate(
  connection: Connection,
  path: string,
  migrations: readonly Migration[] = MIGRATIONS,
): void {
  const newest = migrations.at(-1)?.version ?? 0;
  if (schemaVersion(connection, path, newest) === newest) return;
  connection
    .transaction(() => {
      const from = schemaVersion(connection, path, newest);
      connection.exec(
        'CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT',
      );
      for (const migration of migrations.filter((entry) => entry.version > from)) {
        connection.exec(migration.sql);
        connection
          .prepare('INSERT INTO migrations (version, name) VALUES (?, ?)')
          .run(migration.version, migration.name);
      }
    })
    .immediate();
}

/** 0: there is nothing in it. Throws STORE_UNAVAILABLE as `migrate` does. */
export function schemaVersion(connection: Connection, path: string, newest: number): number {
  const tables = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all();
  if (tables.length === 0) return 0;
  if (!tables.includes('migrations')) {
    throw storeUnavailable(path, 'it is a database of another program', 'name another file');
  }
  const version = Number(connection.prepare('SELECT max(version) FROM migrations').pluck().get());
  if (version > newest) {
    const problem = `it was written by a newer version (schema ${version}; this one knows ${newest})`;
    throw storeUnavailable(path, problem, 'upgrade agentorchestr, or name another file');
  }
  return version;
}
