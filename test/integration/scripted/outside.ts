import { randomUUID } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

export const TOKEN = 'test-token-0123456789abcdef';

export interface HookBody extends Record<string, unknown> {
  readonly hook_event_name: string;
  readonly session_id: string;
}

export interface ToolCall {
  readonly name: string;
  readonly input: Record<string, unknown>;
}

/** What a tool does: its result, or an Error that becomes a tool error with this text. */
type Tool = (input: Record<string, unknown>, progress: (message: string) => Promise<void>) => unknown;

/** A real MCP server and a hook address, in the test's own process. */
export class Outside {
  readonly hooks: HookBody[] = [];
  readonly calls: ToolCall[] = [];
  readonly unauthorised: string[] = [];
  tools: Readonly<Record<string, Tool>> = {};
  /** The JSON that a hook is answered with. */
  answerHook: (body: HookBody) => unknown = () => ({});
  private http: HttpServer | null = null;
  private sessions = new Map<string, StreamableHTTPServerTransport>();
  private port = 0;

  get mcpUrl(): string {
    return `http://127.0.0.1:${this.port}/mcp`;
  }

  get hookUrl(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }

  hookNames(): string[] {
    return this.hooks.map((body) => body.hook_event_name);
  }

  /** The same port again after `close`, with no memory of sessions. */
  async open(): Promise<void> {
    this.sessions = new Map();
    this.http = createServer((request, response) => void this.serve(request, response));
    await new Promise<void>((resolve) => this.http?.listen(this.port, '127.0.0.1', resolve));
    this.port = (this.http.address() as AddressInfo).port;
  }

  /** As if killed: connections are cut, whatever is under way. */
  async close(): Promise<void> {
    const { http } = this;
    this.http = null;
    if (http === null) return;
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.headers.authorization !== `Bearer ${TOKEN}`) {
      this.unauthorised.push(request.url ?? '');
      response.writeHead(401).end();
    } else if (request.url === '/hook') await this.serveHook(request, response);
    else await this.serveMcp(request, response);
  }

  private async serveHook(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as HookBody;
    this.hooks.push(body);
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify(await this.answerHook(body)));
  }

  private async serveMcp(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? this.sessions.get(id) : undefined;
    if (id !== undefined && known === undefined) {
      response
        .writeHead(404)
        .end(
          JSON.stringify({ jsonrpc: '2.0', error: { code: -32001, message: 'Session not found' }, id: null }),
        );
      return;
    }
    await (known ?? (await this.newSession())).handleRequest(request, response);
  }

  private async newSession(): Promise<StreamableHTTPServerTransport> {
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void this.sessions.set(id, transport),
    });
    const server = new Server({ name: 'agentorchestr', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: Object.keys(this.tools).map((name) => ({ name, inputSchema: { type: 'object' as const } })),
    }));
    server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
      const input = params.arguments ?? {};
      this.calls.push({ name: params.name, input });
      const progressToken = params._meta?.progressToken;
      const progress = async (message: string) => {
        if (progressToken === undefined) return;
        await extra.sendNotification({
          method: 'notifications/progress',
          params: { progressToken, progress: 1, message },
        });
      };
      const value = await this.tools[params.name]?.(input, progress);
      if (value instanceof Error)
        return { isError: true, content: [{ type: 'text', text: JSON.stringify({ code: value.message }) }] };
      return {
        content: [{ type: 'text', text: JSON.stringify(value) }],
        structuredContent: value as Record<string, unknown>,
      };
    });
    await server.connect(transport);
    return transport;
  }
}
