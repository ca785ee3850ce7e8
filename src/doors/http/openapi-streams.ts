type Schema = Record<string, unknown>;

const query = (name: string, schema: Schema, description: string, required = false): Schema => ({
  ...{ name, in: 'query', required, schema, description },
});
const TEXT = { type: 'string' };
const CURSOR = query(
  'cursor',
  TEXT,
  'events after it; "latest": only new ones; absent: all. Last-Event-ID wins',
);

/** The addresses of streams: what they answer with is no JSON, or no answer at all but a WebSocket. */
export function streamPaths(problem: Schema): Record<string, Schema> {
  const events = {
    200: {
      description: 'server-sent events; the id of each is a cursor, its data an event as in list_events',
      content: { 'text/event-stream': { schema: TEXT } },
    },
    default: problem,
  };
  return {
    '/sessions/{session_id}/stream': {
      get: {
        operationId: 'stream_events',
        summary: 'Follow the events of a conversation: what was, from the cursor on, then what comes.',
        parameters: [{ name: 'session_id', in: 'path', required: true, schema: TEXT }, CURSOR],
        responses: events,
      },
    },
    '/stream': {
      get: {
        operationId: 'stream_sessions',
        summary: 'Follow the events of several conversations, as server-sent events or as a WebSocket.',
        description: SOCKET,
        parameters: [
          query('sessionId', { type: 'array', items: TEXT }, 'whose; may be repeated', true),
          CURSOR,
          query('include_children', { type: 'string', enum: ['1', '0'] }, '1: what is below them too'),
          query('ticket', TEXT, 'instead of the header Authorization, where that cannot be sent'),
        ],
        responses: {
          101: { description: 'a WebSocket, where the request asks for one' },
          ...events,
        },
      },
    },
    '/stream/tickets': {
      post: {
        operationId: 'create_stream_ticket',
        summary:
          'Get a ticket: it opens one stream, once, soon, and reaches as far as the token it is got with.',
        responses: {
          201: {
            description: 'done',
            content: { 'application/json': { schema: TICKET } },
          },
          default: problem,
        },
      },
    },
  };
}

const SOCKET =
  'Frames of the WebSocket: {"type":"hello","cursor","sessions"}, then {"type":"event","event"} for each event, ' +
  '{"type":"caught_up","cursor"} after those that were there, {"type":"ping"} every 15 s, and {"type":"error","error"} ' +
  'before a refusal. Closed with 4401 (no valid token or ticket), 4404 (no such session), 4000 + status for other ' +
  'refusals, 1013 and "cursor N" (the reader took nothing for 30 s), 1001 (the daemon stops).';

const TICKET = {
  type: 'object',
  properties: { ticket: TEXT, expires_at: { type: 'string', format: 'date-time' } },
  required: ['ticket', 'expires_at'],
};
