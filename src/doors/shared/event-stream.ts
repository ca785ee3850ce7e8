import type { ServerResponse } from 'node:http';
import type { Clock } from '../../core/clock.js';
import type { EphemeralEvent, StoredEvent } from '../../core/events/index.js';

const HEARTBEAT_MS = 15_000;
const STUCK_MS = 30_000;

/** The part of the store that a stream needs. */
export interface EventFeed {
  head(): number;
  subscribe(after: number, listener: (event: StoredEvent | EphemeralEvent) => void): () => void;
}

export interface EventStream {
  readonly feed: EventFeed;
  readonly clock: Clock;
  readonly response: ServerResponse;
  /** Events with a greater seq. */
  readonly after: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** What stands for an event on the wire; null: it is not for this reader. */
  frame(event: StoredEvent | EphemeralEvent): unknown;
}

/**
 * Events as server-sent events, first from the log, then live; ids are `seq`, and only durable events have one. A
 * reader that falls behind is served from the log at its own pace (no queue in memory) and closed when it takes nothing
 * for 30 s. Returns the end of the stream, for the server's own closing.
 */
export function streamEvents(stream: EventStream): () => void {
  const { feed, clock, response } = stream;
  let cursor = stream.after;
  response.writeHead(200, {
    ...stream.headers,
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  response.socket?.setNoDelay(true);
  response.write('retry: 2000\n\n');

  let unsubscribe: () => void = () => undefined;
  let cancelBeat: () => void = () => undefined;
  let cancelStuck: () => void = () => undefined;

  const write = (event: StoredEvent | EphemeralEvent): boolean => {
    if (event.seq !== null) cursor = event.seq;
    const frame = stream.frame(event);
    if (frame === null) return true;
    const id = event.seq === null ? '' : `id: ${event.seq}\n`;
    return response.write(`${id}event: ${event.type}\ndata: ${JSON.stringify(frame)}\n\n`);
  };
  const follow = () => {
    cancelStuck();
    let full = false;
    const stop = feed.subscribe(cursor, (event) => {
      if (full) return;
      if (write(event)) return;
      full = true;
      unsubscribe();
      cancelStuck = clock.after(STUCK_MS, () => response.destroy());
      response.once('drain', follow);
    });
    unsubscribe = stop;
    if (full) stop();
  };
  const beat = () => {
    cancelBeat = clock.after(HEARTBEAT_MS, () => {
      response.write(': still here\n\n');
      beat();
    });
  };
  response.on('close', () => {
    unsubscribe();
    cancelBeat();
    cancelStuck();
  });
  beat();
  follow();
  return () => response.end();
}
