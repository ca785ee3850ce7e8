import type { FastifyInstance } from 'fastify';
import { checkReach } from '../../services/gateway/children/lineage.js';
import { findConversation } from '../../services/gateway/conversation-row.js';
import type { Gateway } from '../../services/gateway/gateway.js';
import { cursorOf } from '../../services/gateway/read-events.js';
import { eventView } from '../../services/gateway/views.js';
import { streamEvents } from '../shared/event-stream.js';

/** `GET /sessions/{id}/stream`, the one address that is no operation. Returns the end of all streams. */
export function addStream(app: FastifyInstance, gateway: Gateway): () => void {
  const streams = new Set<() => void>();
  app.get<{ Params: { session_id: string }; Querystring: { cursor?: string } }>(
    '/sessions/:session_id/stream',
    (request, reply) => {
      const { session_id: sessionId } = request.params;
      checkReach(gateway.store, request.caller, {
        ...{ name: 'stream', reach: 'below', target: { session_id: sessionId } },
      });
      findConversation(gateway.store, sessionId);
      const last = request.headers['last-event-id'];
      const after = cursorOf(gateway, last === undefined ? request.query.cursor : String(last));
      reply.hijack();
      const end = streamEvents({
        ...{ feed: gateway.store, clock: gateway.clock, response: reply.raw, after },
        headers: { 'x-request-id': request.id, 'x-content-type-options': 'nosniff' },
        frame(event) {
          if (event.session_id !== sessionId) return null;
          return event.seq === null ? event : eventView(event);
        },
      });
      streams.add(end);
      reply.raw.on('close', () => streams.delete(end));
    },
  );
  return () => streams.forEach((end) => end());
}
