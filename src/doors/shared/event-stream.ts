import type { ServerResponse } from 'node:http';
import type { EphemeralEvent, StoredEvent } from '../../core/events/index.js';
import { followEvents, type Source } from './follow-events.js';

export interface EventStream extends Source {
  readonly response: ServerResponse;
  readonly headers?: Readonly<Record<string, string>>;
  /** Told first, as `hello` with the cursor; then `caught_up` tells when all that was there is written. */
  readonly hello?: Readonly<Record<string, unknown>>;
  /** What stands for an event on the wire; null: it is not for this reader. */
  frame(event: StoredEvent | EphemeralEvent): unknown;
}

/**
 * Events as server-sent events; ids are `seq`, and only durable events have one. A reader that takes nothing for 30 s
 * is cut off, in the middle of an event perhaps: its client asks again after the last whole one. Returns the end of the
 * stream, for the server's own closing.
 */
export function streamEvents(stream: EventStream): () => void {
  const { response, hello } = stream;
  const tell = (type: string, more: object): boolean =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`);
  response.writeHead(200, {
    ...stream.headers,
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  response.socket?.setNoDelay(true);
  response.write('retry: 2000\n\n');
  if (hello !== undefined) tell('hello', { cursor: String(stream.after), ...hello });
  const end = followEvents(stream, {
    event(event) {
      const frame = stream.frame(event);
      if (frame === null) return true;
      const id = event.seq === null ? '' : `id: ${event.seq}\n`;
      return response.write(`${id}event: ${event.type}\ndata: ${JSON.stringify(frame)}\n\n`);
    },
    caughtUp: (cursor) => hello === undefined || tell('caught_up', { cursor: String(cursor) }),
    beat: () => response.write(': still here\n\n'),
    stuck: () => response.destroy(),
    onceDrained: (resume) => response.once('drain', resume),
  });
  response.on('close', end);
  return () => {
    end();
    response.end();
  };
}
