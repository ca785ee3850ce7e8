import { WebSocket } from 'ws';
import { TOKEN, type GatewayRig } from './gateway-rig.js';

const LIMIT_MS = 45_000;

export interface SocketFrame {
  readonly type: string;
  readonly cursor?: string;
  readonly session?: { readonly id: string };
  readonly sessions?: readonly { readonly id: string }[];
  readonly event?: { readonly cursor?: string; readonly type: string; readonly session_id: string };
  readonly error?: { readonly code: string };
}

export interface SocketEnd {
  readonly code: number;
  readonly reason: string;
}

/** A stock client of `/stream`: what it got, in order. */
export class SocketReader {
  readonly frames: SocketFrame[] = [];
  readonly socket: WebSocket;
  end: SocketEnd | null = null;
  /** Of an upgrade that was refused. */
  status: number | null = null;

  constructor(
    rig: GatewayRig,
    query: string,
    headers: Record<string, string> = { authorization: `Bearer ${TOKEN}` },
    path = '/stream',
  ) {
    this.socket = new WebSocket(`${rig.running.url.replace('http', 'ws')}${path}${query}`, { headers });
    this.socket.on('message', (data: Buffer) =>
      this.frames.push(JSON.parse(data.toString('utf8')) as SocketFrame),
    );
    this.socket.on('unexpected-response', (request, response) => {
      this.status = response.statusCode ?? 0;
      request.destroy();
      this.end = { code: 0, reason: 'no socket' };
    });
    this.socket.on('error', () => undefined);
    this.socket.on('close', (code, reason) => (this.end = { code, reason: reason.toString() }));
  }

  /** Of the durable events. */
  get cursors(): string[] {
    return this.frames.flatMap(({ event }) => event?.cursor ?? []);
  }

  get types(): string[] {
    return this.frames.map(({ type, event }) => event?.type ?? type);
  }

  async until(what: string, condition: (reader: this) => boolean): Promise<this> {
    const deadline = Date.now() + LIMIT_MS;
    while (!condition(this)) {
      if (Date.now() > deadline)
        throw new Error(`waited in vain for ${what}: ${JSON.stringify([this.types.slice(-20), this.end])}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return this;
  }

  caughtUp(): Promise<this> {
    return this.until('the end of the past', ({ frames }) => frames.some(({ type }) => type === 'caught_up'));
  }

  async over(): Promise<SocketEnd> {
    await this.until('its end', ({ end }) => end !== null);
    return this.end!;
  }

  async close(): Promise<void> {
    this.socket.close();
    await this.over();
  }
}
