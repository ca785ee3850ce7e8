import type { LeaseOwner, Reader } from './contract.js';
import { head, queryEvents } from './event-log.js';
import { findLease } from './leases.js';
import type { Sql } from './sql.js';
import type { Tables } from './table.js';

/** As the index of such runs says it. */
const IS_OPEN = "state IN ('queued', 'running', 'waiting')";

export function createReader(sql: Sql, tables: Tables): Reader {
  return {
    head: () => head(sql),
    events: (query) => queryEvents(sql, query),
    session: (sessionId) => tables.sessions.find([sessionId]),
    sessions: (limit) => tables.sessions.select('true ORDER BY updated_at DESC, rowid DESC LIMIT ?', limit),
    sessionPage: ({ kind, before, limit }) =>
      before === undefined
        ? tables.sessions.select('kind = ? ORDER BY created_at DESC, session_id DESC LIMIT ?', kind, limit)
        : tables.sessions.select(
            'kind = ? AND (created_at, session_id) < (?, ?) ORDER BY created_at DESC, session_id DESC LIMIT ?',
            ...[kind, before.created_at, before.session_id, limit],
          ),
    unfinishedSessions: (kind) =>
      sql
        .all(
          `SELECT session_id FROM sessions WHERE kind = ? AND (
             EXISTS (SELECT 1 FROM runs WHERE runs.session_id = sessions.session_id
               AND runs.${IS_OPEN})
             OR EXISTS (SELECT 1 FROM attempts WHERE attempts.session_id = sessions.session_id
               AND attempts.state IN ('starting', 'running'))) ORDER BY rowid`,
          kind,
        )
        .map((row) => String(row['session_id'])),
    runCounts: () =>
      Object.fromEntries(
        sql
          .all('SELECT state, count(*) AS number FROM runs GROUP BY state')
          .map((row) => [String(row['state']), Number(row['number'])]),
      ),
    sessionIds: (prefix) =>
      sql
        .all(
          'SELECT session_id FROM sessions WHERE substr(session_id, 1, length(?)) = ? ORDER BY rowid',
          prefix,
          prefix,
        )
        .map((row) => String(row['session_id'])),
    worker: (sessionId, workerId) => tables.workers.find([sessionId, workerId]),
    workers: (sessionId) => tables.workers.select('session_id = ? ORDER BY rowid', sessionId),
    run: (runId) => tables.runs.find([runId]),
    runs: (sessionId, workerId) =>
      workerId === undefined
        ? tables.runs.select('session_id = ? ORDER BY rowid', sessionId)
        : tables.runs.select('session_id = ? AND worker_id = ? ORDER BY rowid', sessionId, workerId),
    openRun: (sessionId, workerId) =>
      (workerId === undefined
        ? tables.runs.select(`session_id = ? AND ${IS_OPEN} ORDER BY rowid LIMIT 1`, sessionId)
        : tables.runs.select(
            `session_id = ? AND worker_id = ? AND ${IS_OPEN} ORDER BY rowid LIMIT 1`,
            ...[sessionId, workerId],
          ))[0] ?? null,
    attempts: (sessionId) => tables.attempts.select('session_id = ? ORDER BY rowid', sessionId),
    attemptsInThread: (agent, threadId) =>
      tables.attempts.select(
        `state IN ('starting', 'running') AND EXISTS (SELECT 1 FROM workers
           WHERE workers.session_id = attempts.session_id AND workers.worker_id = attempts.worker_id
             AND workers.agent = ? AND workers.thread_id = ?)`,
        agent,
        threadId,
      ),
    message: (messageId) => tables.messages.find([messageId]),
    messages: (sessionId, workerId) =>
      tables.messages.select('session_id = ? AND worker_id = ? ORDER BY accepted_seq', sessionId, workerId),
    verification: (verifyId) => tables.verifications.find([verifyId]),
    verifications: (sessionId) => tables.verifications.select('session_id = ? ORDER BY rowid', sessionId),
    lease: (sessionId): LeaseOwner | null => findLease(sql, sessionId),
    rows: (table) => tables[table].select('true ORDER BY rowid'),
  };
}
