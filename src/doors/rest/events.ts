import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../core/clock.js';
import type { EphemeralEvent, StoredEvent } from '../../core/events/index.js';
import { OrchestratorError } from '../../core/errors/error.js';

const HEARTBEAT_MS = 15_000;
const STUCK_MS = 30_000;

/** The part of the store that a stream needs. */
export interface EventFeed {
  head(): number;
  subscribe(after: number, listener: (event: StoredEvent | EphemeralEvent) => void): () => void;
}

/**
 * `GET /events?after=N` as server-sent events, ids are `seq`; `Last-Event-ID` wins over `after`. A reader that falls
 * behind is served from the log at its own pace (no queue in memory) and closed when it takes nothing for 30 s.
 * Returns the end of the stream, for the server's own closing.
 */
export function streamEvents(options: {
  feed: EventFeed;
  clock: Clock;
  sessionId: string;
  request: IncomingMessage;
  response: ServerResponse;
  url: URL;
}): () => void {
  const { feed, clock, sessionId, response } = options;
  let cursor = startingPoint(options.request, options.url, feed.head());
  response.writeHead(200, {
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
    if (event.session_id !== sessionId) return true;
    const id = event.seq === null ? '' : `id: ${event.seq}\n`;
    return response.write(`${id}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
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

function startingPoint(request: IncomingMessage, url: URL, head: number): number {
  const given = request.headers['last-event-id'] ?? url.searchParams.get('after');
  if (given === null) return head;
  const cursor = Number(given);
  if (!Number.isInteger(cursor) || cursor < 0 || cursor > head)
    throw new OrchestratorError('INVALID_INPUT', {
      field: 'after',
      problem: `"${String(given)}" is not a cursor of this log (0 to ${head})`,
    });
  return cursor;
}
