import { isoTime, type Clock } from '../core/clock.js';
import type { NewEvent, StoredEvent } from '../core/events/index.js';
import type { Logger } from '../platform/logger.js';
import type { Store, Transaction } from './contract.js';
import type { Connection } from './database.js';
import { insertEvent } from './event-log.js';
import type { EventRules } from './event-rules.js';
import { recall, remember } from './idempotency.js';
import { acquireLease, releaseLease } from './leases.js';
import { project, refuseSecondEnd } from './project.js';
import { createReader } from './reader.js';
import { createSql } from './sql.js';
import { createSubscriptions } from './subscriptions.js';
import { createTables } from './table.js';
import { verifyRebuild } from './verify-rebuild.js';
import { openWalFile } from './wal-file.js';

export interface StoreOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly logger?: Logger;
}

/** The store on an open connection. Without `rules` it only reads; writing is then a fault of the caller. */
export function createStore(connection: Connection, rules: EventRules | null, options: StoreOptions): Store {
  const { path, clock, logger } = options;
  const sql = createSql(connection, path);
  const tables = createTables(sql);
  const reader = createReader(sql, tables);
  const wal = openWalFile(path);
  const subscriptions = createSubscriptions({
    path,
    clock,
    logger,
    isWatched: !connection.memory,
    read: (after, limit) => reader.events({ after, limit }),
    head: reader.head,
  });
  /** Appended in the transaction that is open now; published when it is committed. */
  let uncommitted: StoredEvent[] = [];

  function writing(): EventRules {
    if (rules === null) throw new Error('this store was opened for reading only');
    return rules;
  }

  function appendAll(events: readonly NewEvent[]): StoredEvent[] {
    const { encode, version } = writing();
    return events.map((event) => {
      const stamp = { at: event.at ?? isoTime(clock), v: version, data: encode(event) };
      refuseSecondEnd(tables, event);
      const stored = insertEvent(sql, event, stamp);
      project(tables, stored);
      uncommitted.push(stored);
      return stored;
    });
  }

  function atomically<T>(work: () => T): T {
    writing();
    const isOutermost = !sql.inTransaction();
    const mark = uncommitted.length;
    let result: T;
    try {
      result = sql.transaction(work);
    } catch (error) {
      uncommitted.length = mark;
      throw error;
    }
    if (isOutermost) announce();
    return result;
  }

  function announce(): void {
    const events = uncommitted;
    uncommitted = [];
    if (events.length === 0) return;
    try {
      if (events.some((event) => writing().isSynced(event.type))) wal.sync();
      wal.touch(clock.now());
    } finally {
      subscriptions.committed(events);
    }
  }

  function inside(): void {
    if (!sql.inTransaction()) throw new Error('this transaction is over');
  }

  const transaction: Transaction = {
    ...reader,
    append(...events) {
      inside();
      return atomically(() => appendAll(events));
    },
    recall(scope, key, inputHash) {
      inside();
      return recall(sql, scope, key, inputHash);
    },
    remember(scope, key, inputHash, result) {
      inside();
      remember(sql, { scope, key, inputHash, result });
    },
  };

  return {
    ...reader,
    path,
    transaction: (work) => atomically(() => work(transaction)),
    append: (...events) => atomically(() => appendAll(events)),
    publish(event) {
      const { isDurable, version } = writing();
      if (isDurable(event.type)) throw new Error(`${event.type} is durable: append it, do not publish it`);
      subscriptions.ephemeral({ ...event, seq: null, at: isoTime(clock), v: version });
    },
    subscribe: subscriptions.subscribe,
    acquireLease(sessionId, owner) {
      writing();
      return acquireLease(sql, sessionId, owner);
    },
    releaseLease(sessionId, owner) {
      writing();
      releaseLease(sql, sessionId, owner);
    },
    verifyRebuild: () => verifyRebuild(sql, tables, path),
    close() {
      subscriptions.close();
      wal.close();
      connection.close();
    },
  };
}
