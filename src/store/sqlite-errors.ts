import { OrchestratorError } from '../core/errors/error.js';

export const BUSY_TIMEOUT_MS = 5_000;

const KEPT = 'branches and worktrees are in git and stay as they are';

/** By the beginning of SQLite's result code, extended codes included. */
const PROBLEMS: readonly { code: string; problem: string; hint: string }[] = [
  {
    code: 'SQLITE_BUSY',
    problem: `another process has held its write lock for more than ${BUSY_TIMEOUT_MS / 1000} s`,
    hint: 'try again; if it stays, find the process that holds it (lsof) and end it',
  },
  {
    code: 'SQLITE_CORRUPT',
    problem: 'it is damaged',
    hint: `move it and its -wal and -shm files away; ${KEPT}`,
  },
  { code: 'SQLITE_NOTADB', problem: 'it is not an SQLite database', hint: `move it away; ${KEPT}` },
  {
    code: 'SQLITE_READONLY',
    problem: 'it cannot be written',
    hint: 'check owner and mode of the file and its folder',
  },
  {
    code: 'SQLITE_CANTOPEN',
    problem: 'it cannot be opened',
    hint: 'check owner and mode of the file and its folder',
  },
  {
    code: 'SQLITE_FULL',
    problem: 'there is no space left to write it',
    hint: 'free some disk space and repeat',
  },
  {
    code: 'SQLITE_IOERR',
    problem: 'reading or writing it failed',
    hint: 'check disk space, quota and the disk itself',
  },
];

/** What SQLite throws for the world's faults becomes STORE_UNAVAILABLE; anything else (ours) is returned as it is. */
export function translateSqliteError(path: string, thrown: unknown): unknown {
  const code = sqliteCode(thrown);
  const known = code === null ? undefined : PROBLEMS.find((entry) => code.startsWith(entry.code));
  if (known === undefined) return thrown;
  return storeUnavailable(
    path,
    `${known.problem} (${code}: ${(thrown as Error).message})`,
    known.hint,
    thrown,
  );
}

export function storeUnavailable(
  path: string,
  problem: string,
  hint?: string,
  cause?: unknown,
): OrchestratorError {
  const params = hint === undefined ? { path, problem } : { path, problem, hint };
  return new OrchestratorError('STORE_UNAVAILABLE', params, { cause });
}

export function isBusy(thrown: unknown): boolean {
  return sqliteCode(thrown)?.startsWith('SQLITE_BUSY') ?? false;
}

function sqliteCode(thrown: unknown): string | null {
  if (!(thrown instanceof Error) || !('code' in thrown) || typeof thrown.code !== 'string') return null;
  return thrown.code.startsWith('SQLITE_') ? thrown.code : null;
}
