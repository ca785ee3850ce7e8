import websocket, { type WebSocket } from '@fastify/websocket';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { OrchestratorError } from '../../core/errors/error.js';
import { selectEvents, type EventSelection } from '../../services/gateway/event-selection.js';
import type { Gateway } from '../../services/gateway/gateway.js';
import { cursorOf } from '../../services/gateway/read-events.js';
import { sessionView } from '../../services/gateway/views.js';
import type { Caller } from '../../services/operation.js';
import { bearerOf } from '../shared/guard.js';
import { streamEvents } from '../shared/event-stream.js';
import { CLOSE, refuseSocket, streamToSocket } from './socket-stream.js';
import { Tickets } from './tickets.js';

/** What a client says to us on a socket is not read; this is for its pings. */
const INCOMING_LIMIT_BYTES = 1_024;
/** For the client to answer a close; then the connection is cut. */
const CLOSE_LIMIT_MS = 10_000;

/** The addresses of streams, which are no operations. */
export const STREAM_ADDRESSES = [
  { method: 'GET', path: '/stream' },
  { method: 'POST', path: '/stream/tickets' },
] as const;

/** Before all routes: it has to see each of them. Ends the sockets before the server waits for its connections. */
export async function takeSockets(app: FastifyInstance, gateway: Gateway): Promise<void> {
  await app.register(websocket, {
    options: { maxPayload: INCOMING_LIMIT_BYTES, ...{ closeTimeout: CLOSE_LIMIT_MS } },
    errorHandler(error, socket) {
      gateway.logger.debug({ err: error }, 'a socket failed');
      socket.terminate();
    },
    preClose(done) {
      for (const socket of app.websocketServer.clients) socket.close(CLOSE.goingAway, 'agentd stops');
      app.websocketServer.close();
      done();
    },
  });
}

/** `callerOf`: by its token; null: it has none that is valid. */
export function addStreams(
  app: FastifyInstance,
  gateway: Gateway,
  callerOf: (request: FastifyRequest) => Caller | null,
): void {
  const { store: feed, clock } = gateway;
  const tickets = new Tickets(clock);
  const keep = endedWith(app);
  const greeting = ({ sessions }: EventSelection) => {
    const views = sessions.map((row) => sessionView(feed, row));
    return { sessions: views, ...(views.length === 1 ? { session: views[0] } : {}) };
  };
  const streamTo = (request: FastifyRequest, reply: FastifyReply, selection: EventSelection) => {
    const { view: frame, only } = selection;
    const after = startingPoint(gateway, request);
    const hello = greeting(selection);
    const headers = { 'x-request-id': request.id, 'x-content-type-options': 'nosniff' };
    reply.hijack();
    keep(streamEvents({ feed, clock, response: reply.raw, after, only, headers, hello, frame }), reply.raw);
  };
  const admit = (request: FastifyRequest): Caller => {
    const [ticket] = valuesOf(request, 'ticket');
    const hasTicket = ticket !== undefined && bearerOf(request) === null;
    const caller = hasTicket ? tickets.take(ticket) : callerOf(request);
    if (caller === null) throw new OrchestratorError('UNAUTHENTICATED');
    return caller;
  };
  const selected = (request: FastifyRequest) =>
    selectEvents(gateway, admit(request), {
      sessionIds: valuesOf(request, 'sessionId'),
      includeChildren: ['1', 'true'].includes(valuesOf(request, 'include_children')[0] ?? ''),
    });

  app.get<{ Params: { session_id: string } }>('/sessions/:session_id/stream', (request, reply) => {
    const only = { sessionIds: [request.params.session_id], includeChildren: false };
    streamTo(request, reply, selectEvents(gateway, request.caller, only));
  });
  app.route({
    ...{ method: 'GET', url: '/stream', exposeHeadRoute: false, config: { access: 'stream' } },
    handler: (request, reply) => streamTo(request, reply, selected(request)),
    wsHandler(socket: WebSocket, request: FastifyRequest) {
      try {
        const selection = selected(request);
        const after = startingPoint(gateway, request);
        const { view: frame, only } = selection;
        const hello = greeting(selection);
        const stream = { feed, clock, socket, connection: request.socket, after, only, hello, frame };
        keep(streamToSocket(stream), socket);
      } catch (error) {
        refuseSocket(socket, error);
      }
    },
  });
  app.post('/stream/tickets', (request, reply) => reply.code(201).send(tickets.issue(request.caller)));
}

/** Takes the end of each stream, which the server calls before it closes. */
function endedWith(app: FastifyInstance) {
  const ends = new Set<() => void>();
  app.addHook('preClose', async () => ends.forEach((end) => end()));
  return (end: () => void, connection: { on(name: 'close', gone: () => void): unknown }): void => {
    ends.add(end);
    connection.on('close', () => ends.delete(end));
  };
}

function startingPoint(gateway: Gateway, request: FastifyRequest): number {
  const last = request.headers['last-event-id'];
  return cursorOf(gateway, last === undefined ? valuesOf(request, 'cursor')[0] : String(last));
}

function valuesOf({ query }: FastifyRequest, name: string): string[] {
  const given = (query as Readonly<Record<string, string | string[] | undefined>>)[name];
  return given === undefined ? [] : [given].flat();
}
