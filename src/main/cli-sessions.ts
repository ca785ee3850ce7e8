import { existsSync } from 'node:fs';
import { OrchestratorError } from '../core/errors/error.js';
import type { SessionRow } from '../core/state/rows.js';
import { workerWord } from '../core/state/states.js';
import type { SessionListing, WorkPlace } from '../doors/cli/host.js';
import { systemClock } from '../platform/clock.js';
import { resolvePaths } from '../platform/paths.js';
import { lastRun } from '../services/engine/deps.js';
import { isResumable, shownState } from '../services/supervise/shown-state.js';
import type { Store } from '../store/contract.js';
import { openReadOnlyStore } from '../store/open-read-only.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Opens the database for one look at it; it is closed again when `read` is over. */
export async function withStore<T>(env: Environment, read: (store: Store) => T | Promise<T>): Promise<T> {
  const store = openReadOnlyStore({ path: resolvePaths(env).database, clock: systemClock });
  try {
    return await read(store);
  } finally {
    store.close();
  }
}

export function readSessions(env: Environment, limit: number): Promise<SessionListing[]> {
  return withStore(env, (store) => store.sessions(limit).map((row) => listing(store, row)));
}

/** Throws SESSION_NOT_FOUND, SESSION_AMBIGUOUS. */
export function findSession(env: Environment, prefix: string): Promise<string> {
  return withStore(env, (store) => {
    const matches = /^[0-9a-f]{1,8}$/.test(prefix) ? store.sessionIds(prefix) : [];
    const [only] = matches;
    if (only === undefined) throw new OrchestratorError('SESSION_NOT_FOUND', { session: prefix });
    if (matches.length > 1) throw new OrchestratorError('SESSION_AMBIGUOUS', { session: prefix, matches });
    return only;
  });
}

export function readSession(env: Environment, sessionId: string): Promise<SessionRow> {
  return withStore(env, (store) => {
    const row = store.session(sessionId);
    if (row === null) throw new OrchestratorError('SESSION_NOT_FOUND', { session: sessionId });
    return row;
  });
}

export function whereWorkIs(env: Environment, sessionId: string): Promise<readonly WorkPlace[]> {
  return withStore(env, (store) => {
    const mergeable = store.session(sessionId)?.options['imported'] !== true;
    return store.workers(sessionId).flatMap(({ branch, worktree }) => {
      const place = { mergeable, worktree: existsSync(worktree) ? worktree : null };
      return branch === null ? [] : [{ ...place, branch }];
    });
  });
}

function listing(store: Store, row: SessionRow): SessionListing {
  const workers = store.workers(row.session_id).filter((worker) => worker.role === 'worker');
  const state = shownState(store, row);
  return {
    session_id: row.session_id,
    state,
    resumable: isResumable(store, row, state),
    cleaned_at: row.cleaned_at,
    salvaged:
      store.events({ after: 0, sessionId: row.session_id, types: ['work.salvaged'], limit: 1 }).length > 0,
    workers_total: workers.length,
    workers_done: workers.filter((worker) => workerWord(worker.state, lastRun(store, worker)) === 'done')
      .length,
    created_at: row.created_at,
    updated_at: row.updated_at,
    project: row.project,
    goal: row.goal,
  };
}
