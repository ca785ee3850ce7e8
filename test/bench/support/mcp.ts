import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { LATEST_PROTOCOL_VERSION } from '@modelcontextprotocol/sdk/types.js';

/** A program of this folder that serves HTTP, and is told things over IPC. */
export class Served<Told extends { readonly url: string }> {
  readonly #process: ChildProcess;
  readonly told: Told;

  private constructor(child: ChildProcess, told: Told) {
    this.#process = child;
    this.told = told;
  }

  static async start<Told extends { readonly url: string }>(
    name: string,
    ...args: string[]
  ): Promise<Served<Told>> {
    const program = fileURLToPath(new URL(name, import.meta.url));
    // Without what vitest gives its own processes.
    const child = fork(program, args, { env: { PATH: process.env['PATH'] }, execArgv: [] });
    const [told] = (await once(child, 'message')) as [Told];
    return new Served(child, told);
  }

  get pid(): number {
    return this.#process.pid!;
  }

  async ask<Answer>(input: object): Promise<Answer> {
    const answer = once(this.#process, 'message') as Promise<[Answer]>;
    this.#process.send(input);
    return (await answer)[0];
  }

  async close(): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#process.disconnect();
    await ended;
  }
}

interface Answer {
  readonly status: number | undefined;
  readonly session: string | undefined;
  readonly text: string;
}

/** Whoever speaks HTTP with one token: the least that a client can do, so that the server is what is measured. */
export class Caller {
  readonly #url: string;
  readonly #token: string;
  readonly #agent = new Agent({ keepAlive: true });
  #session: string | undefined;
  #id = 0;

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  /** As an MCP client in a session of its own. */
  async initialize(): Promise<this> {
    const clientInfo = { name: 'bench', version: '0' };
    const params = { protocolVersion: LATEST_PROTOCOL_VERSION, capabilities: {}, clientInfo };
    const { session } = await this.#rpc('initialize', params);
    this.#session = session;
    await this.post('/mcp', { jsonrpc: '2.0', method: 'notifications/initialized' });
    return this;
  }

  /** What the tool answered, as JSON. */
  async tool(name: string, input: object = {}): Promise<Record<string, unknown>> {
    const { text } = await this.#rpc('tools/call', { name, arguments: input });
    // A stream of events, or the answer alone.
    const [, data = text] = /^data: (.*)$/m.exec(text) ?? [];
    const { result } = JSON.parse(data) as {
      result?: { isError?: boolean; structuredContent?: Record<string, unknown> };
    };
    if (result?.structuredContent === undefined || result.isError === true)
      throw new Error(`${name}: ${text}`);
    return result.structuredContent;
  }

  #rpc(method: string, params: object): Promise<Answer> {
    this.#id += 1;
    return this.post('/mcp', { jsonrpc: '2.0', id: this.#id, method, params });
  }

  post(path: string, body: object): Promise<Answer> {
    const headers = {
      authorization: `Bearer ${this.#token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(this.#session === undefined ? {} : { 'mcp-session-id': this.#session }),
    };
    return new Promise((resolve, reject) => {
      const asked = request(`${this.#url}${path}`, { method: 'POST', agent: this.#agent, headers });
      asked.on('error', reject).on('response', (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.on('end', () => {
          const { statusCode: status = 0 } = response;
          const session = response.headers['mcp-session-id'];
          if (status >= 400) reject(new Error(`${path}: ${status} ${text}`));
          else resolve({ status, session: typeof session === 'string' ? session : undefined, text });
        });
      });
      asked.end(JSON.stringify(body));
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
