import type { Clock } from '../../core/clock.js';
import type { EphemeralEvent, StoredEvent } from '../../core/events/index.js';

const HEARTBEAT_MS = 15_000;
const STUCK_MS = 30_000;
const PAGE_SIZE = 100;

/** The part of the store that a stream needs. */
export interface EventFeed {
  head(): number;
  events(query: { readonly after: number; readonly limit: number }): readonly StoredEvent[];
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

/**
 * Events after a cursor, page by page from the log, then live. A sink that is full is served no more, and goes on from
 * its cursor when it has drained: the log is the queue, no more than a page waits in memory. One timer at a time: of
 * the heartbeat, or of the patience with a sink that is full. Returns the end, which may be called any number of times.
 */
export function followEvents(
  { feed, clock, after }: { readonly feed: EventFeed; readonly clock: Clock; readonly after: number },
  sink: EventSink,
): () => void {
  const newest = feed.head();
  let cursor = after;
  let page: readonly StoredEvent[] = [];
  let isCaughtUp = false;
  let isFull = false;
  let isOver = false;
  let unsubscribe: () => void = () => undefined;
  let cancelTimer: () => void = () => undefined;

  const end = () => {
    isOver = true;
    unsubscribe();
    cancelTimer();
  };
  const wrote = (hasRoom: boolean) => {
    if (hasRoom || isFull || isOver) return;
    isFull = true;
    unsubscribe();
    cancelTimer();
    cancelTimer = clock.after(STUCK_MS, () => {
      end();
      sink.stuck(cursor);
    });
    sink.onceDrained(() => {
      if (!isOver) go();
    });
  };
  const beat = () => {
    cancelTimer();
    cancelTimer = clock.after(HEARTBEAT_MS, () => {
      beat();
      wrote(sink.beat());
    });
  };
  const sayCaughtUp = () => {
    if (isCaughtUp || cursor < newest || isFull) return;
    isCaughtUp = true;
    wrote(sink.caughtUp(cursor));
  };
  const hand = (event: StoredEvent | EphemeralEvent) => {
    if (isFull || isOver) return;
    if (event.seq !== null) cursor = event.seq;
    wrote(sink.event(event));
    sayCaughtUp();
  };
  const readOn = () => {
    // Between two pages the stream may have ended, or a heartbeat may have been one too many.
    if (isFull || isOver) return;
    if (page.length === 0) page = feed.events({ after: cursor, limit: PAGE_SIZE });
    for (const event of page) hand(event);
    page = page.filter(({ seq }) => seq > cursor);
    if (isFull || isOver) return;
    if (cursor < feed.head()) setImmediate(readOn);
    else unsubscribe = feed.subscribe(cursor, hand);
  };
  const go = () => {
    isFull = false;
    beat();
    sayCaughtUp();
    readOn();
  };
  go();
  return end;
}
