import Database from 'better-sqlite3';
import { existsSync } from 'node:fs';
import { chmod, link, mkdtemp } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OrchestratorError } from '../core/errors/error.js';
import { removeTree } from '../platform/files.js';
import type { Backup } from './contract.js';
import { schemaVersion } from './migrate.js';
import { MIGRATIONS } from './migrations/index.js';
import { BUSY_TIMEOUT_MS, storeUnavailable, translateSqliteError } from './sqlite-errors.js';

/** All that is left, in one step: in between others write, and the copy would begin anew. */
const ALL_PAGES = 0x7fffffff;

/**
 * Copies a database while others write it: everything that was committed by one moment, and nothing after. `target` is
 * one file (0600), whole or not there, and proven: it opens, SQLite finds no fault, its log is as long as it was found.
 * Its schema stays as it is. Throws BACKUP_EXISTS, STORE_UNAVAILABLE.
 */
export async function backupDatabase({ path, target }: { path: string; target: string }): Promise<Backup> {
  if (existsSync(target)) throw new OrchestratorError('BACKUP_EXISTS', { path: target });
  const folder = await mkdtemp(join(dirname(target), '.agentorchestr-backup-')).catch((error: Error) => {
    throw storeUnavailable(target, error.message, 'name a file in a folder that you may write', error);
  });
  const copy = join(folder, 'copy.db');
  try {
    const least = await copyPages(path, copy);
    const proven = prove(copy, least);
    await chmod(copy, 0o600);
    // Unlike a rename it replaces nothing.
    await link(copy, target).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') throw new OrchestratorError('BACKUP_EXISTS', { path: target });
      throw storeUnavailable(target, error.message, 'name a file on a local disk', error);
    });
    return { path: target, ...proven };
  } catch (error) {
    throw translateSqliteError(path, error);
  } finally {
    await removeTree(folder);
  }
}

/** Returns the number of the newest event that was there before. */
async function copyPages(path: string, copy: string): Promise<number> {
  const source = new Database(path, { timeout: BUSY_TIMEOUT_MS, fileMustExist: true });
  try {
    source.pragma('query_only = ON');
    schemaVersion(source, path, MIGRATIONS.at(-1)?.version ?? 0);
    const least = headOf(source);
    await source.backup(copy, { progress: () => ALL_PAGES });
    return least;
  } finally {
    source.close();
  }
}

function prove(copy: string, least: number): Omit<Backup, 'path'> {
  const database = new Database(copy, { fileMustExist: true });
  try {
    const faults = database.pragma('integrity_check(3)', { simple: true });
    const head = headOf(database);
    const events = Number(database.prepare('SELECT count(*) FROM events').pluck().get());
    // Numbers have no gaps: an event that is missing would show.
    if (faults !== 'ok' || head < least || events !== head)
      throw storeUnavailable(copy, `the copy is not whole (${String(faults)})`, 'try again');
    // One file, without a -wal beside it; who opens it next sets it as it needs it.
    database.pragma('journal_mode = DELETE');
    return { head, events, schema: schemaVersion(database, copy, Infinity) };
  } finally {
    database.close();
  }
}

function headOf(database: Database.Database): number {
  return Number(database.prepare('SELECT coalesce(max(seq), 0) FROM events').pluck().get());
}
