import type { WebSocket } from '@fastify/websocket';
import type { Socket } from 'node:net';
import type { EphemeralEvent, StoredEvent } from '../../core/events/index.js';
import { problemOf } from '../shared/http.js';
import { followEvents, type Source } from '../shared/follow-events.js';

export const CLOSE = { goingAway: 1001, internal: 1011, tryAgain: 1013 } as const;

export interface SocketStream extends Source {
  readonly socket: WebSocket;
  /** Under the WebSocket: it knows when there is room again. */
  readonly connection: Socket;
  readonly hello: Readonly<Record<string, unknown>>;
  /** null: it is not for this reader. */
  frame(event: StoredEvent | EphemeralEvent): unknown;
}

/**
 * Events as frames of a WebSocket. What the client sends is not read. A reader that takes nothing for 30 s is closed
 * with 1013 and the cursor of the last event that was written to it: it goes on after that one. Returns the end of what
 * is written, for the server's own closing.
 */
export function streamToSocket(stream: SocketStream): () => void {
  const { socket, connection } = stream;
  const send = (frame: Readonly<Record<string, unknown>>): boolean => {
    socket.send(JSON.stringify(frame));
    return !connection.writableNeedDrain;
  };
  send({ type: 'hello', cursor: String(stream.after), ...stream.hello });
  const end = followEvents(stream, {
    event(event) {
      const frame = stream.frame(event);
      return frame === null || send({ type: 'event', event: frame });
    },
    caughtUp: (cursor) => send({ type: 'caught_up', cursor: String(cursor) }),
    beat: () => send({ type: 'ping' }),
    stuck: (cursor) => socket.close(CLOSE.tryAgain, `cursor ${cursor}`),
    onceDrained: (resume) => connection.once('drain', resume),
  });
  socket.on('close', end);
  return end;
}

/** What is wrong, as a frame and as a code: 4000 and the HTTP status, 4401 and 4404 most of all. */
export function refuseSocket(socket: WebSocket, thrown: unknown): void {
  const { status, body } = problemOf(thrown);
  socket.send(JSON.stringify({ type: 'error', error: body }));
  socket.close(status >= 500 ? CLOSE.internal : 4_000 + status, String(body['code']));
}
