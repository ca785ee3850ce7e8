import type { Clock } from '../core/clock.js';
import type { EphemeralEvent, StoredEvent } from '../core/events/index.js';
import type { Logger } from '../platform/logger.js';
import { LogWatcher } from './log-watcher.js';

type Listener = (event: StoredEvent | EphemeralEvent) => void;

interface Subscriber {
  readonly listener: Listener;
  /** seq of the last event handed over. */
  cursor: number;
  active: boolean;
  delivering: boolean;
  /** It is behind the log, and its next page is about to be read. */
  isBehind: boolean;
  cancelNextPage: () => void;
}

export interface SubscriptionOptions {
  readonly path: string;
  readonly isWatched: boolean;
  readonly clock: Clock;
  readonly logger: Logger | undefined;
  readonly read: (after: number, limit: number) => readonly StoredEvent[];
  readonly head: () => number;
}

const PAGE_SIZE = 200;

/**
 * One cursor per subscriber, and the log itself as the queue: who is slow or new reads pages, who is at the end gets
 * the commits of this process at once. Both move the same cursor, so no event comes twice or is left out.
 */
export class Subscriptions {
  readonly #options: SubscriptionOptions;
  readonly #subscribers = new Set<Subscriber>();
  readonly #watcher: LogWatcher;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
    this.#watcher = new LogWatcher({ ...options, look: () => this.#look() });
  }

  /** The first event comes after this has returned, so that a listener can always unsubscribe itself. */
  subscribe(after: number, listener: Listener): () => void {
    const isBehind = after < this.#options.head();
    const subscriber = {
      listener,
      cursor: after,
      active: true,
      delivering: false,
      isBehind,
      cancelNextPage: () => {},
    };
    this.#subscribers.add(subscriber);
    if (this.#options.isWatched) this.#watcher.start();
    if (isBehind) queueMicrotask(() => this.#readPage(subscriber));
    return () => this.#stop(subscriber);
  }

  /** Events this process has just committed, in order. */
  committed(events: readonly StoredEvent[]): void {
    const first = events[0];
    if (first === undefined) return;
    for (const subscriber of this.#subscribers) {
      const isNext = subscriber.cursor + 1 === first.seq && !subscriber.delivering && !subscriber.isBehind;
      if (isNext) this.#deliver(subscriber, events);
      else this.#catchUp(subscriber);
    }
  }

  /** Reaches subscribers that are at most one page behind: it is worth nothing to one who still reads the past. */
  ephemeral(event: EphemeralEvent): void {
    for (const subscriber of this.#subscribers) {
      if (subscriber.isBehind && !subscriber.delivering) this.#readPage(subscriber);
      if (subscriber.active && !subscriber.isBehind) this.#call(subscriber, event);
    }
  }

  close(): void {
    for (const subscriber of this.#subscribers) this.#stop(subscriber);
  }

  #look(): void {
    try {
      const newest = this.#options.head();
      for (const subscriber of this.#subscribers) if (subscriber.cursor < newest) this.#catchUp(subscriber);
    } catch (error) {
      this.#options.logger?.error({ err: error }, 'looking for new events failed; it is tried again');
    }
  }

  /** Outside the caller's turn: a listener may append, and what it appends must not overtake what it is being told. */
  #catchUp(subscriber: Subscriber): void {
    if (!subscriber.active || subscriber.isBehind) return;
    subscriber.isBehind = true;
    queueMicrotask(() => this.#readPage(subscriber));
  }

  #readPage(subscriber: Subscriber): void {
    if (!subscriber.active || !subscriber.isBehind) return;
    subscriber.cancelNextPage();
    const { clock, head, logger, read } = this.#options;
    const next = () => this.#readPage(subscriber);
    try {
      const page = read(subscriber.cursor, PAGE_SIZE);
      this.#deliver(subscriber, page);
      subscriber.isBehind = subscriber.cursor < head();
      if (!subscriber.isBehind) return;
      // A timer between the pages of a long past, so that everything else gets its turn.
      if (page.length === PAGE_SIZE) subscriber.cancelNextPage = clock.after(0, next);
      else queueMicrotask(next);
    } catch (error) {
      subscriber.isBehind = false;
      logger?.error({ err: error }, 'reading events for a subscriber failed; it is tried again');
    }
  }

  #deliver(subscriber: Subscriber, events: readonly StoredEvent[]): void {
    subscriber.delivering = true;
    for (const event of events) {
      if (!subscriber.active) break;
      subscriber.cursor = event.seq;
      this.#call(subscriber, event);
    }
    subscriber.delivering = false;
  }

  #call(subscriber: Subscriber, event: StoredEvent | EphemeralEvent): void {
    try {
      subscriber.listener(event);
    } catch (error) {
      this.#options.logger?.error({ err: error, event: event.type, seq: event.seq }, 'a subscriber threw');
    }
  }

  #stop(subscriber: Subscriber): void {
    subscriber.active = false;
    subscriber.cancelNextPage();
    this.#subscribers.delete(subscriber);
    if (this.#subscribers.size === 0) this.#watcher.stop();
  }
}
