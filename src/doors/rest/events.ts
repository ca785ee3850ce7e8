import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../core/clock.js';
import { OrchestratorError } from '../../core/errors/error.js';
import { streamEvents as stream } from '../shared/event-stream.js';
import type { EventFeed } from '../shared/follow-events.js';

/** `GET /events?after=N` as server-sent events of one session; `Last-Event-ID` wins over `after`. */
export function streamEvents(options: {
  feed: EventFeed;
  clock: Clock;
  sessionId: string;
  request: IncomingMessage;
  response: ServerResponse;
  url: URL;
}): () => void {
  const { feed, clock, response, sessionId } = options;
  const after = startingPoint(options.request, options.url, feed.head());
  const frame = (event: { session_id: string }) => (event.session_id === sessionId ? event : null);
  return stream({ feed, clock, response, after, only: () => [sessionId], frame });
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
