import { basename, dirname } from 'node:path';
import type { Clock } from '../core/clock.js';
import type { EphemeralEvent, StoredEvent } from '../core/events/index.js';
import type { Logger } from '../platform/logger.js';
import { watchDirectory } from '../platform/watch.js';

type Listener = (event: StoredEvent | EphemeralEvent) => void;

interface Subscriber {
  readonly listener: Listener;
  /** seq of the last event handed over. */
  cursor: number;
  active: boolean;
  delivering: boolean;
  /** A page is about to be read for it: it is behind the log. */
  pending: NodeJS.Immediate | null;
}

export interface Subscriptions {
  subscribe(after: number, listener: Listener): () => void;
  /** Events this process has just committed, in order. */
  committed(events: readonly StoredEvent[]): void;
  /** Goes to subscribers that are at most one page behind; a hint is worth nothing to one who reads the past. */
  ephemeral(event: EphemeralEvent): void;
  close(): void;
}

const PAGE_SIZE = 200;
/** Only for what the watch missed (a writer killed at the wrong instant, an unwatchable folder). */
const SAFETY_REREAD_MS = 15_000;

/**
 * One cursor per subscriber, and the log itself as the queue: who is slow or new reads pages, who is at the end gets
 * commits of this process at once. Both move the same cursor, so no event comes twice or is left out.
 */
export function createSubscriptions(options: {
  path: string;
  isWatched: boolean;
  clock: Clock;
  logger: Logger | undefined;
  read: (after: number, limit: number) => readonly StoredEvent[];
  head: () => number;
}): Subscriptions {
  const { clock, logger, read } = options;
  const subscribers = new Set<Subscriber>();
  const watcher = createWatcher(options, () => {
    const newest = options.head();
    for (const subscriber of subscribers) if (subscriber.cursor < newest) schedule(subscriber);
  });

  function schedule(subscriber: Subscriber): void {
    if (!subscriber.active || subscriber.pending !== null) return;
    subscriber.pending = setImmediate(() => drain(subscriber));
  }

  function drain(subscriber: Subscriber): void {
    subscriber.pending = null;
    try {
      const page = read(subscriber.cursor, PAGE_SIZE);
      deliver(subscriber, page);
      if (page.length === PAGE_SIZE) schedule(subscriber);
    } catch (error) {
      logger?.error({ err: error }, 'reading events for a subscriber failed; it is tried again');
    }
  }

  function deliver(subscriber: Subscriber, events: readonly StoredEvent[]): void {
    subscriber.delivering = true;
    for (const event of events) {
      if (!subscriber.active) break;
      subscriber.cursor = event.seq;
      call(subscriber, event);
    }
    subscriber.delivering = false;
  }

  function call(subscriber: Subscriber, event: StoredEvent | EphemeralEvent): void {
    try {
      subscriber.listener(event);
    } catch (error) {
      logger?.error({ err: error, event: event.type, seq: event.seq }, 'a subscriber threw');
    }
  }

  function stop(subscriber: Subscriber): void {
    subscriber.active = false;
    if (subscriber.pending !== null) clearImmediate(subscriber.pending);
    subscriber.pending = null;
    subscribers.delete(subscriber);
    if (subscribers.size === 0) watcher.stop();
  }

  return {
    subscribe(after, listener) {
      const subscriber: Subscriber = { listener, cursor: after, active: true, delivering: false, pending: null };
      subscribers.add(subscriber);
      watcher.start();
      if (after < options.head()) schedule(subscriber);
      return () => stop(subscriber);
    },
    committed(events) {
      const first = events[0];
      if (first === undefined) return;
      for (const subscriber of [...subscribers]) {
        const isNext = subscriber.cursor + 1 === first.seq && !subscriber.delivering && subscriber.pending === null;
        if (isNext) deliver(subscriber, events);
        else schedule(subscriber);
      }
    },
    ephemeral(event) {
      for (const subscriber of [...subscribers]) {
        if (subscriber.pending !== null && !subscriber.delivering) {
          clearImmediate(subscriber.pending);
          drain(subscriber);
        }
        if (subscriber.active && subscriber.pending === null) call(subscriber, event);
      }
    },
    close() {
      for (const subscriber of [...subscribers]) stop(subscriber);
    },
  };

  function createWatcher(
    { path, isWatched }: { path: string; isWatched: boolean },
    look: () => void,
  ): { start(): void; stop(): void } {
    const walName = `${basename(path)}-wal`;
    let stopWatching: (() => void) | null = null;
    let cancelReread = () => {};
    let scheduled: NodeJS.Immediate | null = null;
    const wake = () => {
      scheduled = null;
      try {
        look();
      } catch (error) {
        logger?.error({ err: error }, 'looking for new events failed; it is tried again');
      }
    };
    const reread = () => {
      cancelReread = clock.after(SAFETY_REREAD_MS, reread);
      wake();
    };
    return {
      start() {
        if (!isWatched || stopWatching !== null) return;
        stopWatching = watchDirectory(
          dirname(path),
          (name) => {
            if (name === walName) scheduled ??= setImmediate(wake);
          },
          (error) => logger?.warn({ err: error, path }, 'commits of other processes are noticed late: the folder cannot be watched'),
        );
        cancelReread = clock.after(SAFETY_REREAD_MS, reread);
      },
      stop() {
        stopWatching?.();
        stopWatching = null;
        cancelReread();
        if (scheduled !== null) clearImmediate(scheduled);
        scheduled = null;
      },
    };
  }
}
