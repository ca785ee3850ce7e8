import type { IncomingMessage, ServerResponse } from 'node:http';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  CallToolRequestSchema,
  LATEST_PROTOCOL_VERSION,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { Logger } from '../../platform/logger.js';
import { newId } from '../../platform/ids.js';
import type { Caller, Scope } from '../../services/operation.js';
import { sendJson } from '../shared/http.js';
import { toWebRequest, writeWebResponse } from './web-bridge.js';
import { errorResult, successResult, toolsFor, type McpOperation } from './tools.js';

export interface McpDoorOptions {
  /** What the table has for callers of this scope in this session. */
  operations(scope: Scope): readonly McpOperation[];
  readonly version: string;
  readonly logger: Logger;
  instructions(scope: Scope): string;
  call(call: {
    operation: string;
    input: unknown;
    caller: Caller;
    signal: AbortSignal;
    progress: (message: string) => void;
  }): Promise<Record<string, unknown>>;
  /** The caller's client has asked for the tools. */
  onListed(caller: Caller): void;
  /** News for this caller that has not been told yet; telling it here is telling it for good. */
  takeNotices(caller: Caller): readonly string[];
}

interface Connection {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: Server;
  /** By JSON-RPC id: aborts when the client of that request is gone before its answer. */
  readonly hangUps: Map<string | number, AbortSignal>;
}

const CONNECTIONS_PER_CALLER = 32;

/**
 * MCP over Streamable HTTP, stateful with SSE answers (JSON answers would lose progress). The token says who calls; a
 * client that comes back with a session id of an earlier supervisor is served, because some never initialise again.
 */
export function createMcpDoor(options: McpDoorOptions): {
  handle(request: IncomingMessage, response: ServerResponse, caller: Caller, body: unknown): Promise<void>;
  close(): Promise<void>;
} {
  const connections = new Map<string, Connection>();
  const keyOf = (caller: Caller, sessionId: string) => `${caller.name} ${sessionId}`;

  const connect = async (caller: Caller, wantedId: string | null): Promise<Connection> => {
    const hangUps = new Map<string | number, AbortSignal>();
    const server = createServer(options, caller, hangUps);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => wantedId ?? newId(),
      onsessioninitialized: (id) => {
        connections.set(keyOf(caller, id), { transport, server, hangUps });
        evictOldest(connections, caller);
      },
      onsessionclosed: (id) => void connections.delete(keyOf(caller, id)),
    });
    await server.connect(transport);
    return { transport, server, hangUps };
  };

  const find = async (caller: Caller, sessionId: string | undefined): Promise<Connection> => {
    if (sessionId === undefined) return connect(caller, null);
    const known = connections.get(keyOf(caller, sessionId));
    if (known !== undefined) return known;
    const revived = await connect(caller, sessionId);
    await initializeFor(revived.transport);
    return revived;
  };

  return {
    async handle(request, response, caller, body) {
      if (request.method === 'GET' && request.headers['mcp-session-id'] === undefined)
        return sendJson(response, 405, {
          jsonrpc: '2.0',
          error: { code: -32000, message: 'open a session with POST initialize first' },
          id: null,
        });
      const id = request.headers['mcp-session-id'];
      const { transport, hangUps } = await find(caller, typeof id === 'string' ? id : undefined);
      followHangUp(hangUps, body, response);
      const answer = await transport.handleRequest(toWebRequest(request), { parsedBody: body });
      await writeWebResponse(answer, response);
    },
    async close() {
      await Promise.allSettled([...connections.values()].map(({ server }) => server.close()));
      connections.clear();
    },
  };
}

function createServer(
  options: McpDoorOptions,
  caller: Caller,
  hangUps: ReadonlyMap<string | number, AbortSignal>,
): Server {
  const tools = toolsFor(options.operations(caller.scope), caller.scope);
  const server = new Server(
    { name: 'agentorchestr', version: options.version },
    { capabilities: { tools: {} }, instructions: options.instructions(caller.scope) },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => {
    options.onListed(caller);
    return { tools };
  });
  server.setRequestHandler(CallToolRequestSchema, async (request, extra) => {
    const token = extra._meta?.progressToken;
    let beats = 0;
    const progress = (message: string) => {
      if (token === undefined) return;
      beats += 1;
      extra
        .sendNotification({
          method: 'notifications/progress',
          params: { progressToken: token, progress: beats, message },
        })
        .catch((error: unknown) => options.logger.debug({ err: error }, 'progress not delivered'));
    };
    const { name, arguments: input } = request.params;
    const hungUp = hangUps.get(extra.requestId);
    const signal = hungUp === undefined ? extra.signal : AbortSignal.any([extra.signal, hungUp]);
    // News that nobody would read stays for the next call.
    const notices = () => (signal.aborted ? [] : options.takeNotices(caller));
    try {
      const answer = await options.call({ operation: name, input: input ?? {}, caller, signal, progress });
      return successResult(answer, notices());
    } catch (error) {
      return errorResult(error, notices());
    }
  });
  return server;
}

/** A dropped connection does not cancel a call (MCP), but nothing may be counted as told to a client that is gone. */
function followHangUp(
  hangUps: Map<string | number, AbortSignal>,
  body: unknown,
  response: ServerResponse,
): void {
  const id = (body as { id?: unknown } | undefined)?.id;
  if (typeof id !== 'string' && typeof id !== 'number') return;
  const controller = new AbortController();
  hangUps.set(id, controller.signal);
  response.once('close', () => {
    if (!response.writableFinished) controller.abort();
    if (hangUps.get(id) === controller.signal) hangUps.delete(id);
  });
}

/** What the client said to the supervisor before us; it never says it twice. */
async function initializeFor(transport: WebStandardStreamableHTTPServerTransport): Promise<void> {
  const send = (message: object, sessionId?: string) =>
    transport.handleRequest(
      new Request('http://127.0.0.1/mcp', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...(sessionId === undefined ? {} : { 'mcp-session-id': sessionId }),
        },
        body: JSON.stringify(message),
      }),
    );
  const params = {
    protocolVersion: LATEST_PROTOCOL_VERSION,
    capabilities: {},
    clientInfo: { name: 'returning client', version: '0' },
  };
  const opened = await send({ jsonrpc: '2.0', id: 'revive', method: 'initialize', params });
  await opened.text();
  const done = await send({ jsonrpc: '2.0', method: 'notifications/initialized' }, transport.sessionId);
  await done.text();
}

function evictOldest(connections: Map<string, Connection>, caller: Caller): void {
  const own = [...connections.keys()].filter((key) => key.startsWith(`${caller.name} `));
  for (const key of own.slice(0, Math.max(0, own.length - CONNECTIONS_PER_CALLER))) {
    void connections.get(key)?.server.close();
    connections.delete(key);
  }
}
