import { isSameProcessAlive } from '../platform/identity.js';
import type { LeaseOwner } from './contract.js';
import type { Sql } from './sql.js';

/** The holder as it is written down; it may be dead. */
export function findLease(sql: Sql, sessionId: string): LeaseOwner | null {
  const row = sql.get('SELECT pid, pid_started_at, boot_id FROM leases WHERE session_id = ?', sessionId);
  if (row === undefined) return null;
  return {
    pid: Number(row['pid']),
    pidStartedAt: String(row['pid_started_at']),
    bootId: String(row['boot_id']),
  };
}

/**
 * A lease has no expiry: it ends when it is released or its holder is dead, so a holder that was merely stopped for an
 * hour never finds another one at work. Runs inside a transaction: of two that race for a dead holder's, one wins.
 */
export function acquireLease(
  sql: Sql,
  sessionId: string,
  owner: LeaseOwner,
): { acquired: true } | { acquired: false; holder: LeaseOwner } {
  const holder = findLease(sql, sessionId);
  if (holder !== null && !isSameOwner(holder, owner) && isSameProcessAlive(holder))
    return { acquired: false, holder };
  sql.run(
    'INSERT OR REPLACE INTO leases (session_id, pid, pid_started_at, boot_id) VALUES (?, ?, ?, ?)',
    sessionId,
    owner.pid,
    owner.pidStartedAt,
    owner.bootId,
  );
  return { acquired: true };
}

/** Does nothing when another holds it by now. Runs inside a transaction. */
export function releaseLease(sql: Sql, sessionId: string, owner: LeaseOwner): void {
  const holder = findLease(sql, sessionId);
  if (holder !== null && isSameOwner(holder, owner))
    sql.run('DELETE FROM leases WHERE session_id = ?', sessionId);
}

function isSameOwner(left: LeaseOwner, right: LeaseOwner): boolean {
  return left.pid === right.pid && left.pidStartedAt === right.pidStartedAt && left.bootId === right.bootId;
}
