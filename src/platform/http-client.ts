import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';

/** A server of ours and the token that it wants. */
export interface HttpServer {
  /** `http://127.0.0.1:8765`; a path is kept in front of the addresses. */
  readonly url: string;
  /** null: none is sent. */
  readonly token: string | null;
}

/** The server is not there, or was gone before the answer was complete. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
  /** It was there, and got the request. */
  readonly wasThere: boolean;

  constructor(message: string, { wasThere = false, cause }: { wasThere?: boolean; cause?: unknown } = {}) {
    super(message, { cause });
    this.wasThere = wasThere;
  }
}

export interface HttpCall {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** With query. */
  readonly path: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** One call with a JSON answer. Has no limit of its own: some operations wait for hours. Throws ConnectionLost. */
export async function callHttp(
  server: HttpServer,
  call: HttpCall,
): Promise<{ status: number; body: unknown }> {
  const response = await openHttp(server, call);
  let text = '';
  try {
    for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>) text += chunk;
  } catch (error) {
    throw new ConnectionLost('the answer broke off', { wasThere: true, cause: error });
  }
  return { status: response.statusCode ?? 0, body: text === '' ? null : parsed(text) };
}

/** Resolves with the answer's head. Not fetch: that one gives up on an answer that takes longer than five minutes. */
export function openHttp(server: HttpServer, call: HttpCall): Promise<IncomingMessage> {
  const body = call.body === undefined ? undefined : JSON.stringify(call.body);
  const url = new URL(server.url.replace(/\/+$/, '') + call.path);
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      method: call.method,
      agent: false,
      headers: {
        ...(server.token === null ? {} : { authorization: `Bearer ${server.token}` }),
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
      },
      ...(call.signal === undefined ? {} : { signal: call.signal }),
    });
    let wasThere = false;
    outgoing.once('socket', (socket) => socket.once('connect', () => (wasThere = true)));
    outgoing.once('error', (cause) => reject(new ConnectionLost(cause.message, { wasThere, cause })));
    outgoing.once('response', resolve);
    outgoing.end(body);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new ConnectionLost('what answers there does not speak JSON', { cause: error });
  }
}
