import { callHttp, ConnectionLost, openHttp, type HttpCall, type HttpServer } from './http-client.js';

/** A port of this machine and the token that it wants. */
export interface LocalServer {
  readonly port: number;
  readonly token: string;
}

const serverAt = ({ port, token }: LocalServer): HttpServer => ({ url: `http://127.0.0.1:${port}`, token });

/** See `callHttp`. */
export function callLocal(server: LocalServer, call: HttpCall): Promise<{ status: number; body: unknown }> {
  return callHttp(serverAt(server), call);
}

/** The `data` of each server-sent event, parsed; ends when the server closes the stream. Throws ConnectionLost. */
export async function* streamLocal(
  server: LocalServer,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<unknown> {
  const response = await openHttp(serverAt(server), { method: 'GET', path, signal });
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
