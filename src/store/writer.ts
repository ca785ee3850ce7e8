import { isoTime, type Clock } from '../core/clock.js';
import type { NewEvent, StoredEvent } from '../core/events/index.js';
import { insertEvent } from './event-log.js';
import type { EventRules } from './event-rules.js';
import { project, refuseSecondEnd } from './project.js';
import type { Sql } from './sql.js';
import type { Tables } from './table.js';
import type { WalFile } from './wal-file.js';

interface WriterOptions {
  readonly sql: Sql;
  readonly tables: Tables;
  readonly wal: WalFile;
  readonly rules: EventRules;
  readonly clock: Clock;
  /** What is kept of an event's data. */
  kept<T>(data: T): T;
  /** Called after the commit, in order. */
  readonly committed: (events: readonly StoredEvent[]) => void;
}

/** The only writer of events and of the rows folded from them: both change in one transaction, or neither. */
export class Writer {
  readonly #options: WriterOptions;
  /** Appended in the transaction that is open now. */
  #uncommitted: StoredEvent[] = [];

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  /** Runs `work` in a transaction, inside another one as part of that; publishes when the outermost is committed. */
  transaction<T>(work: () => T): T {
    const { sql } = this.#options;
    const isOutermost = !sql.inTransaction();
    const mark = this.#uncommitted.length;
    let result: T;
    try {
      result = sql.transaction(work);
    } catch (error) {
      this.#uncommitted.length = mark;
      throw error;
    }
    if (isOutermost) this.#announce();
    return result;
  }

  append(events: readonly NewEvent[]): StoredEvent[] {
    return this.transaction(() => events.map((event) => this.#appendOne(event)));
  }

  #appendOne(given: NewEvent): StoredEvent {
    const { sql, tables, rules, clock, kept } = this.#options;
    const event = { ...given, data: kept(given.data) } as NewEvent;
    const stamp = { at: event.at ?? isoTime(clock), v: rules.version, data: rules.encode(event) };
    refuseSecondEnd(tables, event);
    const stored = insertEvent(sql, event, stamp);
    project(tables, stored);
    this.#uncommitted.push(stored);
    return stored;
  }

  #announce(): void {
    const { wal, rules, clock, committed } = this.#options;
    const events = this.#uncommitted;
    this.#uncommitted = [];
    if (events.length === 0) return;
    try {
      if (events.some((event) => rules.isSynced(event.type))) wal.sync();
      wal.touch(clock.now());
    } finally {
      committed(events);
    }
  }
}
