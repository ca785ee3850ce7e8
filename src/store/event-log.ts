import type { EventName, EventOf, NewEvent, StoredEvent } from '../core/events/index.js';
import type { EventQuery } from './contract.js';
import type { Sql, SqlRow, SqlValue } from './sql.js';

const INSERT =
  'INSERT INTO events (at, type, session_id, worker_id, run_id, source, evidence, v, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)';

/**
 * Appends one event; `data` is its data as JSON. Nothing is ever deleted and every insert holds the write lock, so
 * SQLite's next rowid is the next number: `seq` has no gaps.
 */
export function insertEvent(
  sql: Sql,
  event: NewEvent,
  stamp: { at: string; v: number; data: string },
): StoredEvent {
  const { type, session_id, worker_id = null, run_id = null, source, evidence } = event;
  const row = {
    at: stamp.at,
    type,
    session_id,
    worker_id,
    run_id,
    source,
    evidence,
    v: stamp.v,
    data: stamp.data,
  };
  const { lastInsertRowid } = sql.run(INSERT, ...Object.values(row));
  return decodeEvent({ seq: lastInsertRowid, ...row });
}

export function head(sql: Sql): number {
  return Number(sql.get('SELECT max(seq) AS seq FROM events')?.['seq'] ?? 0);
}

export function queryEvents<Name extends EventName>(sql: Sql, query: EventQuery<Name>): EventOf<Name>[] {
  const { sessionIds, ...rest } = query;
  const parts = sessionIds?.map((sessionId) => whereOf({ ...rest, sessionId })) ?? [whereOf(query)];
  if (parts.length === 0) return [];
  // SQLite merges the parts as they come, each by its own index: no page sorts all that there are.
  const text = parts.map(({ where }) => `SELECT * FROM events WHERE ${where}`).join(' UNION ALL ');
  const values = parts.flatMap((part) => part.values);
  // To SQLite a negative limit is none.
  const rows = sql.all(`${text} ORDER BY seq LIMIT ?`, ...values, query.limit ?? -1);
  return rows.map(decodeEvent) as EventOf<Name>[];
}

function whereOf(query: Omit<EventQuery, 'sessionIds'>): { where: string; values: SqlValue[] } {
  const conditions = ['seq > ?'];
  const values: SqlValue[] = [query.after];
  const add = (condition: string, value: string | undefined) => {
    if (value === undefined) return;
    conditions.push(condition);
    values.push(value);
  };
  add('session_id = ?', query.sessionId);
  add('worker_id = ?', query.workerId);
  add('run_id = ?', query.runId);
  if (query.types?.length === 1) add('type = ?', query.types[0]);
  // Not by the index of types (the plus): that gives no order, and a page would sort all that there are.
  else add('+type IN (SELECT value FROM json_each(?))', query.types && JSON.stringify(query.types));
  return { where: conditions.join(' AND '), values };
}

function decodeEvent(row: SqlRow): StoredEvent {
  const { seq, at, type, session_id, worker_id, run_id, source, evidence, v, data } = row;
  return {
    seq,
    at,
    type,
    session_id,
    ...(worker_id === null ? {} : { worker_id }),
    ...(run_id === null ? {} : { run_id }),
    source,
    evidence,
    v,
    data: JSON.parse(String(data)) as unknown,
  } as StoredEvent;
}
