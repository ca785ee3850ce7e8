import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: { readonly model: string; readonly messages: readonly { role: string; content: unknown }[] };
  /** The caller hung up before the end. */
  isGone: boolean;
}

type Play = (response: ServerResponse, asked: Asked) => void;

const event = (data: object) => `event: x\ndata: ${JSON.stringify(data)}\n\n`;

/** What one answer is, piece by piece, in the format of messages; `end` false: it just stops coming. */
export function says(pieces: readonly string[], { stop = 'end_turn', end = true } = {}): Play {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(event({ type: 'message_start', message: { usage: { input_tokens: 7 } } }));
    for (const text of pieces)
      response.write(event({ type: 'content_block_delta', delta: { type: 'text_delta', text } }));
    if (!end) return;
    response.write(
      event({ type: 'message_delta', delta: { stop_reason: stop }, usage: { output_tokens: 3 } }),
    );
    response.end(event({ type: 'message_stop' }));
  };
}

/** In the format of chats. */
export function chats(pieces: readonly string[]): Play {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const chunk = (data: object | string) =>
      response.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
    for (const content of pieces) chunk({ choices: [{ delta: { content }, finish_reason: null }] });
    chunk({ choices: [{ delta: {}, finish_reason: 'stop' }] });
    chunk({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } });
    chunk('[DONE]');
    response.end();
  };
}

export function refuses(status: number, headers: Readonly<Record<string, string>> = {}): Play {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ error: { type: 'x', message: `refused with ${status}` } }));
  };
}

/** The connection breaks after these pieces. */
export function breaks(pieces: readonly string[]): Play {
  return (response, asked) => {
    says(pieces, { end: false })(response, asked);
    setTimeout(() => response.destroy(), 50);
  };
}

/** A model on loopback that answers what the test puts in line, the last of it again and again. */
export class ModelServer {
  readonly asked: Asked[] = [];
  #plays: Play[] = [];
  readonly #server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(parts).toString('utf8')) as Asked['body'];
      const asked: Asked = { path: request.url ?? '', headers: request.headers, body, isGone: false };
      this.asked.push(asked);
      response.on('close', () => (asked.isGone = !response.writableFinished));
      const play = this.#plays.length > 1 ? this.#plays.shift() : this.#plays[0];
      play?.(response, asked);
    });
  });

  static async start(): Promise<ModelServer> {
    const server = new ModelServer();
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  plays(...plays: Play[]): void {
    this.#plays = plays;
    this.asked.length = 0;
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }
}
