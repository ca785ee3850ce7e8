import Database from 'better-sqlite3';
import { constants } from 'node:fs';
import { copyFile, mkdtemp, open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../core/clock.js';
import { OrchestratorError } from '../core/errors/error.js';
import { removeTree } from '../platform/files.js';
import type { DatabaseInspection } from './contract.js';
import { schemaVersion } from './migrate.js';
import { MIGRATIONS } from './migrations/index.js';
import { openReadOnlyStore } from './open-read-only.js';
import { storeUnavailable, translateSqliteError } from './sqlite-errors.js';

const LARGEST_COPY_BYTES = 512_000_000;
const COPY_TRIES = 5;
/** Of the write-ahead log's header: changes whenever the log begins anew. */
const LOG_HEADER_BYTES = 32;

/**
 * Looks at the database without touching it. Any connection to the file itself, a reading one included, may make its -wal
 * and -shm files or bring the log in, so a copy in `temp` is opened instead. Throws STORE_UNAVAILABLE; with the parameter
 * `unseen` where it only could not be looked at.
 */
export async function inspectDatabase(options: {
  path: string;
  temp: string;
  clock: Clock;
}): Promise<DatabaseInspection> {
  const { path, clock } = options;
  const newestSchema = MIGRATIONS.at(-1)?.version ?? 0;
  if ((await stamp(path)) === null) {
    // Loads SQLite all the same, in memory.
    const store = openReadOnlyStore({ path, clock });
    const facts = { exists: false, schema: 0, newestSchema, damage: [] };
    return { ...facts, reader: store, close: () => Promise.resolve(store.close()) };
  }
  const folder = await mkdtemp(join(options.temp, 'agentorchestr-look-')).catch((error: Error) => {
    throw unseen(path, `it cannot be copied: ${error.message}`, 'set TMPDIR to a folder that you may write');
  });
  const copy = join(folder, 'state.db');
  try {
    await copyWhole(path, copy);
    const facts = { exists: true, newestSchema, ...examine(path, copy, newestSchema) };
    const store = openReadOnlyStore({ path: copy, clock });
    return {
      ...facts,
      reader: store,
      close() {
        store.close();
        return removeTree(folder);
      },
    };
  } catch (error) {
    await removeTree(folder);
    if (error instanceof OrchestratorError)
      throw new OrchestratorError(error.code, { ...error.params, path }, { cause: error });
    const { code, message: problem } = error as NodeJS.ErrnoException;
    if (code === 'ENOSPC' || code === 'EDQUOT')
      throw unseen(path, `it cannot be copied: ${problem}`, `free some space in ${options.temp}`);
    throw storeUnavailable(path, problem, 'check owner and mode of the file and its folder', error);
  }
}

function unseen(path: string, problem: string, hint: string): OrchestratorError {
  return new OrchestratorError('STORE_UNAVAILABLE', { path, problem, hint, unseen: true });
}

function examine(path: string, copy: string, newest: number): { schema: number; damage: string[] } {
  let connection: Database.Database | undefined;
  try {
    connection = new Database(copy);
    const damage = connection.prepare('PRAGMA quick_check(3)').pluck().all().map(String);
    const schema = schemaVersion(connection, path, newest);
    return { schema, damage: damage.filter((line) => line !== 'ok') };
  } catch (error) {
    throw translateSqliteError(path, error);
  } finally {
    connection?.close();
  }
}

/** File and log as they were at one moment: neither was rewritten meanwhile. What was only appended to the log does no harm. */
async function copyWhole(path: string, copy: string): Promise<void> {
  const log = `${path}-wal`;
  for (let tries = 1; ; tries++) {
    const before = await state(path);
    if (before.bytes > LARGEST_COPY_BYTES)
      throw unseen(path, 'it is too large to be looked at', `sqlite3 ${path} 'PRAGMA quick_check'`);
    await copyFile(path, copy, constants.COPYFILE_FICLONE);
    if (before.log === null) await removeTree(`${copy}-wal`);
    else await copyFile(log, `${copy}-wal`, constants.COPYFILE_FICLONE);
    const after = await state(path);
    if (before.file === after.file && before.log === after.log) return;
    if (tries >= COPY_TRIES) throw unseen(path, 'it is being written too often to be looked at', 'try again');
  }
}

async function state(path: string): Promise<{ file: string; log: string | null; bytes: number }> {
  const file = await stamp(path);
  return { file: file?.stamp ?? '', bytes: file?.bytes ?? 0, log: await logHeader(`${path}-wal`) };
}

async function stamp(path: string): Promise<{ stamp: string; bytes: number } | null> {
  const info = await stat(path, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });
  if (info === null) return null;
  return { stamp: `${info.ino} ${info.size} ${info.mtimeNs}`, bytes: Number(info.size) };
}

/** null: there is no log, or nothing in it. */
async function logHeader(path: string): Promise<string | null> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (file === null) return null;
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(LOG_HEADER_BYTES), 0, LOG_HEADER_BYTES, 0);
    return bytesRead === 0 ? null : buffer.toString('hex', 0, bytesRead);
  } finally {
    await file.close();
  }
}
