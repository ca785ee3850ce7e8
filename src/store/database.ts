import Database from 'better-sqlite3';
import { chmodSync, closeSync, openSync, readSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { makeFolders } from '../platform/files.js';
import { currentUserId } from '../platform/paths.js';
import { shellQuote } from '../platform/shell-quote.js';
import type { Connection } from './connection.js';
import { migrate } from './migrate.js';
import { BUSY_TIMEOUT_MS, isBusy, storeUnavailable, translateSqliteError } from './sqlite-errors.js';

const WAL_PAUSE_MS = 5;

/** Opens the file at the newest schema; `create` makes it when it is missing. Throws STORE_UNAVAILABLE. */
export function openDatabase(path: string, options: { create: boolean }): Connection {
  if (options.create) makePrivateFile(path);
  return connect(path, path, (connection) => {
    switchToWal(connection, path);
    connection.pragma('synchronous = NORMAL');
    connection.pragma('wal_autocheckpoint = 4000');
    migrate(connection, path);
  });
}

/** A database without rows, in memory: what a file that does not exist yet looks like to a reader. */
export function openEmptyDatabase(path: string): Connection {
  return connect(':memory:', path, (connection) => migrate(connection, path));
}

/** Opens `file`; `path` is what errors name. */
function connect(file: string, path: string, prepare: (connection: Connection) => void): Connection {
  let connection: Connection | undefined;
  try {
    connection = new Database(file, { timeout: BUSY_TIMEOUT_MS, fileMustExist: file !== ':memory:' });
    connection.pragma('foreign_keys = ON');
    prepare(connection);
    return connection;
  } catch (error) {
    connection?.close();
    throw isAddonMissing(error)
      ? storeUnavailable(path, 'the SQLite addon cannot be loaded', rebuildHint(), error)
      : translateSqliteError(path, error);
  }
}

/** SQLite would make the file with the umask's mode; its -wal and -shm files take over the mode found here. */
function makePrivateFile(path: string): void {
  try {
    makeFolders(dirname(path));
    closeSync(openSync(path, 'a', 0o600));
    const info = statSync(path);
    // Named by mistake: what is no database is refused next, and stays as it is.
    if (info.size > 0 && !hasSqliteHeader(path)) return;
    if ((info.mode & 0o077) !== 0 && info.uid === currentUserId()) chmodSync(path, 0o600);
  } catch (error) {
    const problem = (error as Error).message;
    throw storeUnavailable(path, problem, 'check owner and mode of the file and its folder', error);
  }
}

const SQLITE_HEADER = 'SQLite format 3\0';

function hasSqliteHeader(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(SQLITE_HEADER.length);
    readSync(file, head, 0, head.length, 0);
    return head.toString('latin1') === SQLITE_HEADER;
  } finally {
    closeSync(file);
  }
}

/**
 * SQLite does not always call its busy handler for this switch, so processes that open a new file together must
 * repeat it themselves. Opening is synchronous, hence the blocking pause.
 */
function switchToWal(connection: Connection, path: string): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  connection.pragma('busy_timeout = 0');
  for (let waitedMs = 0; ; waitedMs += WAL_PAUSE_MS) {
    const outcome = tryWal(connection);
    if (outcome === 'wal') break;
    if (waitedMs >= BUSY_TIMEOUT_MS) {
      if (outcome instanceof Error) throw outcome;
      throw storeUnavailable(
        path,
        'its file system does not support write-ahead logging',
        'put it on a local disk',
      );
    }
    Atomics.wait(pause, 0, 0, WAL_PAUSE_MS);
  }
  connection.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
}

function tryWal(connection: Connection): unknown {
  try {
    return connection.pragma('journal_mode = WAL', { simple: true });
  } catch (error) {
    if (isBusy(error)) return error;
    throw error;
  }
}

/** As it can be typed anywhere, whoever installed us and where. */
function rebuildHint(): string {
  const addon = createRequire(import.meta.url).resolve('better-sqlite3/package.json');
  const installed = dirname(dirname(dirname(addon)));
  return `run: npm --prefix ${shellQuote(installed)} rebuild better-sqlite3`;
}

function isAddonMissing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    (error as NodeJS.ErrnoException).code === 'ERR_DLOPEN_FAILED' ||
    error.message.startsWith('Could not locate the bindings file')
  );
}
