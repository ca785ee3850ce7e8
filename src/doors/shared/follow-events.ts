import type { Clock } from '../../core/clock.js';
import type { EphemeralEvent, StoredEvent } from '../../core/events/index.js';

const HEARTBEAT_MS = 15_000;
const STUCK_MS = 30_000;
const PAGE_SIZE = 100;

/** The part of the store that a stream needs. */
export interface EventFeed {
  head(): number;
  events(query: {
    readonly after: number;
    readonly limit: number;
    readonly sessionIds?: readonly string[];
  }): readonly StoredEvent[];
  subscribe(after: number, listener: (event: StoredEvent | EphemeralEvent) => void): () => void;
}

/** Where events go. What writes says whether more may be written: false, not before it has drained. */
export interface EventSink {
  event(event: StoredEvent | EphemeralEvent): boolean;
  /** Everything that was there in the beginning is written. */
  caughtUp(cursor: number): boolean;
  beat(): boolean;
  /** It took nothing for 30 s; whatever is after the cursor was not written. */
  stuck(cursor: number): void;
  onceDrained(resume: () => void): void;
}

/** What is followed, and from where. */
export interface Source {
  readonly feed: EventFeed;
  readonly clock: Clock;
  /** Events with a greater seq. */
  readonly after: number;
  /**
   * The sessions whose events are read from the log: others may have a thousand times as many. Asked for each page, for
   * new ones may have come; undefined: all.
   */
  readonly only?: (() => readonly string[] | undefined) | undefined;
}

/**
 * Events after a cursor, page by page from the log, then live. A sink that is full is served no more, and goes on from
 * its cursor when it has drained: the log is the queue, no more than a page waits in memory. Returns the end, which may
 * be called any number of times.
 */
export function followEvents(source: Source, sink: EventSink): () => void {
  const follower = new Follower(source, sink);
  follower.go();
  return () => follower.end();
}

class Follower {
  readonly #feed: EventFeed;
  readonly #clock: Clock;
  readonly #sink: EventSink;
  /** What the log held when it began. */
  readonly #newest: number;
  #cursor: number;
  readonly #only: () => readonly string[] | undefined;
  #page: readonly StoredEvent[] = [];
  /** So far the page is all there is; null: more may follow it. */
  #covered: number | null = null;
  #isCaughtUp = false;
  #isFull = false;
  #isOver = false;
  #unsubscribe: () => void = () => undefined;
  /** One at a time: who goes on after a sink was full reads on at once, and twice it would subscribe twice. */
  #nextPage: NodeJS.Immediate | undefined;
  /** One at a time: of the heartbeat, or of the patience with a sink that is full. */
  #cancelTimer: () => void = () => undefined;

  constructor({ feed, clock, after, only }: Source, sink: EventSink) {
    this.#feed = feed;
    this.#clock = clock;
    this.#sink = sink;
    this.#newest = feed.head();
    this.#cursor = after;
    this.#only = only ?? (() => undefined);
  }

  go(): void {
    this.#isFull = false;
    clearImmediate(this.#nextPage);
    this.#beatLater();
    this.#sayCaughtUp();
    this.#readOn();
  }

  end(): void {
    this.#isOver = true;
    this.#unsubscribe();
    this.#cancelTimer();
  }

  #readOn(): void {
    // Between two pages the stream may have ended, or a heartbeat may have been one too many.
    if (this.#isFull || this.#isOver) return;
    if (this.#page.length === 0) this.#readPage();
    for (const event of this.#page) this.#hand(event);
    this.#page = this.#page.filter(({ seq }) => seq > this.#cursor);
    if (this.#isFull || this.#isOver) return;
    if (this.#covered !== null && this.#covered > this.#cursor) {
      this.#cursor = this.#covered;
      this.#sayCaughtUp();
      if (this.#isFull || this.#isOver) return;
    }
    if (this.#cursor < this.#feed.head()) this.#nextPage = setImmediate(() => this.#readOn());
    else this.#unsubscribe = this.#feed.subscribe(this.#cursor, (event) => this.#hand(event));
  }

  #readPage(): void {
    // Before the sessions and the page: what is appended after it has a greater seq.
    const head = this.#feed.head();
    const sessionIds = this.#only();
    const some = sessionIds === undefined ? {} : { sessionIds };
    this.#page = this.#feed.events({ after: this.#cursor, limit: PAGE_SIZE, ...some });
    this.#covered = this.#page.length < PAGE_SIZE ? head : null;
  }

  #hand(event: StoredEvent | EphemeralEvent): void {
    if (this.#isFull || this.#isOver) return;
    if (event.seq !== null) this.#cursor = event.seq;
    this.#wrote(this.#sink.event(event));
    this.#sayCaughtUp();
  }

  #sayCaughtUp(): void {
    if (this.#isCaughtUp || this.#cursor < this.#newest || this.#isFull) return;
    this.#isCaughtUp = true;
    this.#wrote(this.#sink.caughtUp(this.#cursor));
  }

  #beatLater(): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#clock.after(HEARTBEAT_MS, () => {
      this.#beatLater();
      this.#wrote(this.#sink.beat());
    });
  }

  #wrote(hasRoom: boolean): void {
    if (hasRoom || this.#isFull || this.#isOver) return;
    this.#isFull = true;
    this.#unsubscribe();
    this.#cancelTimer();
    this.#cancelTimer = this.#clock.after(STUCK_MS, () => {
      this.end();
      this.#sink.stuck(this.#cursor);
    });
    this.#sink.onceDrained(() => {
      if (!this.#isOver) this.go();
    });
  }
}
