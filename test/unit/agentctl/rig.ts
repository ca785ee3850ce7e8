import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAgentctl } from '../../../src/doors/agentctl/program.js';
import type { AgentctlHost } from '../../../src/doors/agentctl/host.js';
import type { Terminal } from '../../../src/doors/cli/host.js';
import { createAgentctlHost } from '../../../src/main/agentctl-host.js';
import { GATEWAY_OPERATIONS } from '../../../src/services/gateway/operations/index.js';

export interface Request {
  readonly method: string;
  readonly url: string;
  readonly token: string | undefined;
  readonly body: unknown;
}

interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The whole command line against a server that answers as it is told. */
export class AgentctlRig {
  readonly home = mkdtempSync(join(tmpdir(), 'ao-agentctl-'));
  readonly requests: Request[] = [];
  answer: { status: number; body: unknown } = { status: 200, body: {} };
  /** Instead of the answer, for the next requests: another one, or the end of the connection. */
  readonly first: ('hang up' | { status: number; body: unknown })[] = [];
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk) => (text += String(chunk)));
      request.on('end', () => {
        this.requests.push({
          ...{ method: request.method ?? '', url: request.url ?? '' },
          token: request.headers.authorization,
          body: text === '' ? undefined : (JSON.parse(text) as unknown),
        });
        const next = this.first.shift() ?? this.answer;
        if (next === 'hang up') return void request.socket.destroy();
        const { status, body } = next;
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(typeof body === 'string' ? body : JSON.stringify(body));
      });
    });
  }

  start(): Promise<void> {
    return new Promise((done) => this.#server.listen(0, '127.0.0.1', done));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
    rmSync(this.home, { recursive: true });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get last(): Request | undefined {
    return this.requests.at(-1);
  }

  async run(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    own: Partial<AgentctlHost> = {},
  ): Promise<Said> {
    const said = { out: '', err: '' };
    const terminal = {
      stdoutIsTty: false,
      out: (text: string) => void (said.out += text),
      err: (text: string) => void (said.err += text),
      interrupted: new AbortController().signal,
    } as Terminal;
    const world = { HOME: this.home, AGENTCTL_URL: this.url, ...env };
    const host = { ...createAgentctlHost(world, terminal), ...own };
    const code = await runAgentctl(host, GATEWAY_OPERATIONS, args);
    return { code, ...said };
  }
}
