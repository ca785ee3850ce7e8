import { request, type IncomingMessage } from 'node:http';

/** A port of this machine and the token that it wants. */
export interface LocalServer {
  readonly port: number;
  readonly token: string;
}

/** The server is not there, or was gone before the answer was complete. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

export interface LocalCall {
  readonly method: 'GET' | 'POST';
  /** With query. */
  readonly path: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** One call with a JSON answer. Has no limit of its own: some operations wait for hours. Throws ConnectionLost. */
export async function callLocal(
  server: LocalServer,
  call: LocalCall,
): Promise<{ status: number; body: unknown }> {
  const response = await open(server, call);
  let text = '';
  try {
    for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>) text += chunk;
  } catch (error) {
    throw new ConnectionLost('the answer broke off', { cause: error });
  }
  return { status: response.statusCode ?? 0, body: text === '' ? null : (JSON.parse(text) as unknown) };
}

/** The `data` of each server-sent event, parsed; ends when the server closes the stream. Throws ConnectionLost. */
export async function* streamLocal(
  server: LocalServer,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<unknown> {
  const response = await open(server, { method: 'GET', path, signal });
  if (response.statusCode !== 200) {
    response.resume();
    throw new ConnectionLost(`the stream was refused (${response.statusCode ?? 0})`);
  }
  let rest = '';
  try {
    for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>) {
      const blocks = (rest + chunk).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const data = block.split('\n').filter((line) => line.startsWith('data: '));
        if (data.length > 0) yield JSON.parse(data.map((line) => line.slice('data: '.length)).join('\n'));
      }
    }
  } catch (error) {
    throw new ConnectionLost('the stream broke off', { cause: error });
  } finally {
    response.destroy();
  }
}

function open(server: LocalServer, call: LocalCall): Promise<IncomingMessage> {
  const body = call.body === undefined ? undefined : JSON.stringify(call.body);
  return new Promise((resolve, reject) => {
    const outgoing = request({
      host: '127.0.0.1',
      port: server.port,
      method: call.method,
      path: call.path,
      agent: false,
      headers: {
        authorization: `Bearer ${server.token}`,
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
      },
      ...(call.signal === undefined ? {} : { signal: call.signal }),
    });
    outgoing.once('error', (error) => reject(new ConnectionLost(error.message, { cause: error })));
    outgoing.once('response', resolve);
    outgoing.end(body);
  });
}
