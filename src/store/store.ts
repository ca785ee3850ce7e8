import { isoTime, type Clock } from '../core/clock.js';
import type { Logger } from '../platform/logger.js';
import { withTexts } from '../platform/redact.js';
import type { Reader, Store, Transaction } from './contract.js';
import type { Connection } from './connection.js';
import type { EventRules } from './event-rules.js';
import { recall, remember } from './idempotency.js';
import { acquireLease, releaseLease } from './leases.js';
import { createReader } from './reader.js';
import { createSql, type Sql } from './sql.js';
import { Subscriptions } from './subscriptions.js';
import { createTables } from './table.js';
import { verifyRebuild } from './verify-rebuild.js';
import { openWalFile } from './wal-file.js';
import { Writer } from './writer.js';

export interface StoreOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly logger?: Logger;
  /** Applied to every text of an event before it is stored or published; absent: they stay as they are. */
  readonly redact?: (text: string) => string;
}

/** The store on an open connection. Without `rules` it only reads; writing is then a fault of the caller. */
export function createStore(connection: Connection, rules: EventRules | null, options: StoreOptions): Store {
  const { path, clock, logger, redact } = options;
  const kept = <T>(data: T): T => (redact === undefined ? data : (withTexts(data, redact) as T));
  const sql = createSql(connection, path);
  const tables = createTables(sql);
  const reader = createReader(sql, tables);
  const wal = openWalFile(path);
  const read = (after: number, limit: number) => reader.events({ after, limit });
  const subscriptions = new Subscriptions({
    path,
    clock,
    logger,
    isWatched: !connection.memory,
    read,
    head: reader.head,
  });
  const committed = subscriptions.committed.bind(subscriptions);
  const writer = rules && new Writer({ sql, tables, wal, rules, clock, committed, kept });
  const transaction = writer && createTransaction(reader, sql, writer);
  const forWriting = <T>(part: T | null): T => {
    if (part === null) throw new Error('this store was opened for reading only');
    return part;
  };
  return {
    ...reader,
    path,
    transaction: (work) => forWriting(writer).transaction(() => work(forWriting(transaction))),
    append: (...events) => forWriting(writer).append(events),
    publish(event) {
      const { isDurable, version } = forWriting(rules);
      if (isDurable(event.type)) throw new Error(`${event.type} is durable: append it, do not publish it`);
      if (sql.inTransaction())
        throw new Error(`${event.type} must not overtake the events of an open transaction`);
      const stamp = { seq: null, at: isoTime(clock), v: version };
      subscriptions.ephemeral({ ...event, ...stamp, data: kept(event.data) });
    },
    subscribe: (after, listener) => subscriptions.subscribe(after, listener),
    acquireLease: (sessionId, owner) =>
      forWriting(writer).transaction(() => acquireLease(sql, sessionId, owner)),
    releaseLease: (sessionId, owner) =>
      forWriting(writer).transaction(() => releaseLease(sql, sessionId, owner)),
    verifyRebuild: () => verifyRebuild(sql, tables, path),
    close() {
      subscriptions.close();
      wal.close();
      connection.close();
    },
  };
}

/** One object for all transactions of a store; it refuses to write when none is open. */
function createTransaction(reader: Reader, sql: Sql, writer: Writer): Transaction {
  const open = () => {
    if (!sql.inTransaction()) throw new Error('this transaction is over');
  };
  return {
    ...reader,
    append(...events) {
      open();
      return writer.append(events);
    },
    recall(scope, key, inputHash) {
      open();
      return recall(sql, scope, key, inputHash);
    },
    remember(scope, key, inputHash, result) {
      open();
      remember(sql, { scope, key, inputHash, result });
    },
  };
}
