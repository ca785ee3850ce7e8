import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { launchOf } from '../agents/registry.js';
import { createHookDoor } from '../doors/hooks/door.js';
import { createMcpDoor } from '../doors/mcp/door.js';
import { createRestDoor } from '../doors/rest/door.js';
import { streamEvents } from '../doors/rest/events.js';
import { admit, checkHost } from '../doors/shared/guard.js';
import { readJson, sendJson, sendProblem } from '../doors/shared/http.js';
import { delay } from '../core/clock.js';
import { OrchestratorError } from '../core/errors/error.js';
import { systemClock } from '../platform/clock.js';
import type { TokenIdentity, Tokens } from '../platform/tokens.js';
import { callOperation, isGranted } from '../services/call-operation.js';
import { LEAD_INSTRUCTIONS, WORKER_INSTRUCTIONS } from '../services/context/lead-prompt.js';
import { takeNotices } from '../services/engine/notices.js';
import type { Caller } from '../services/operation.js';
import { OPERATIONS } from '../services/operations/index.js';
import type { SessionContext } from '../services/session-context.js';
import { takeHook } from '../services/supervise/take-hook.js';

const UNKNOWN_CLIENT_LIMIT_MS = 45_000;
/** Our own clients have no limit of their own. */
const OWN_CLIENT_LIMIT_MS = 3_600_000;
const KEEP_ALIVE_MS = 65_000;
const LAST_ANSWERS_MS = 2_000;

type Route = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** The one port of a session: MCP, hooks, operations, events, health. Plain node:http, loopback only. */
export class SessionServer {
  readonly #tokens: Tokens;
  readonly #version: string;
  readonly #server: Server;
  readonly #streams = new Set<() => void>();
  readonly #calls = new Set<Promise<unknown>>();
  #session: SessionContext | null = null;
  /** Requests that come before the session can answer wait for it: an agent's hook is told only once. */
  readonly #route: Promise<Route>;
  #resolveRoute: (route: Route) => void = () => undefined;
  #rejectRoute: (error: Error) => void = () => undefined;
  #closeMcp: () => Promise<void> = async () => undefined;

  constructor(options: { tokens: Tokens; version: string }) {
    this.#tokens = options.tokens;
    this.#version = options.version;
    this.#server = createServer((request, response) => {
      this.#handle(request, response).catch((error: unknown) => this.#fail(response, error));
    });
    this.#server.keepAliveTimeout = KEEP_ALIVE_MS;
    this.#route = new Promise((resolve, reject) => {
      this.#resolveRoute = resolve;
      this.#rejectRoute = reject;
    });
    this.#route.catch(() => undefined);
  }

  /** Listens on 127.0.0.1; 0 = any free port. Returns the port, or null when it is taken. */
  async listen(port: number): Promise<number | null> {
    const error = await new Promise<NodeJS.ErrnoException | null>((resolve) => {
      this.#server.once('error', resolve);
      this.#server.listen(port, '127.0.0.1', () => {
        this.#server.off('error', resolve);
        resolve(null);
      });
    });
    if (error === null) return this.port;
    if (error.code === 'EADDRINUSE') return null;
    throw error;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** From here on requests are served; before, they wait. */
  serve(session: SessionContext): void {
    this.#session = session;
    const call = (request: {
      operation: string;
      input: unknown;
      caller: Caller;
      signal: AbortSignal;
      progress?: (message: string) => void;
    }) => {
      const { workerId } = request.caller;
      const answered = workerId === null ? undefined : session.live?.engine.calling(workerId);
      return this.#tracked(callOperation(OPERATIONS, session, request).finally(() => answered?.()));
    };
    const mcp = createMcpDoor({
      operations: (scope) => OPERATIONS.filter((operation) => isGranted(operation, scope, session)),
      version: this.#version,
      logger: session.logger,
      instructions: (scope) => (scope === 'worker' ? WORKER_INSTRUCTIONS : LEAD_INSTRUCTIONS),
      call,
      onListed: (caller) => session.live?.toolsSeen.listed(caller.name),
      takeNotices: (caller) =>
        caller.scope === 'lead'
          ? takeNotices(session.store, session.sessionId, 'tool result').map((notice) => notice.text)
          : [],
    });
    this.#closeMcp = () => mcp.close();
    const rest = createRestDoor({ operations: OPERATIONS, call });
    const hooks = createHookDoor((workerId, body, hungUp) => takeHook(session, workerId, { body, hungUp }));
    this.#resolveRoute(async (request, response) => {
      const identity = admit(request, this.#tokens, this.port);
      // Joined as text: as a relative address `//` would name a host and throw.
      const url = new URL(`http://localhost${request.url?.startsWith('/') === true ? request.url : '/'}`);
      const caller = callerOf(session, identity);
      if (url.pathname === '/mcp')
        return mcp.handle(
          request,
          response,
          caller,
          request.method === 'POST' ? await readJson(request) : undefined,
        );
      if (url.pathname === '/hooks') return hooks(request, response, identity);
      if (url.pathname === '/events') return this.#stream(session, request, response, url, identity);
      if (await rest.handle(request, response, url, caller)) return;
      sendJson(
        response,
        404,
        { type: 'about:blank', title: 'not found', status: 404, detail: `nothing at ${url.pathname}` },
        'application/problem+json',
      );
    });
  }

  /** Lets calls under way be answered (2 s), ends streams and connections; resolves when the port is free. */
  async close(): Promise<void> {
    this.#rejectRoute(new OrchestratorError('SHUTTING_DOWN'));
    await Promise.race([Promise.allSettled(this.#calls), delay(systemClock, LAST_ANSWERS_MS)]);
    this.#streams.forEach((end) => end());
    await this.#closeMcp();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeIdleConnections();
      setImmediate(() => this.#server.closeAllConnections());
    });
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === '/health') {
      checkHost(request.headers.host, this.port);
      return sendJson(response, 200, {
        ok: true,
        session_id: this.#session?.sessionId ?? null,
        version: this.#version,
      });
    }
    // Some MCP clients probe for OAuth first; a plain JSON 404 tells them there is none.
    if (request.url?.startsWith('/.well-known/') === true)
      return sendJson(response, 404, { error: 'not found' });
    return (await this.#route)(request, response);
  }

  #tracked<T>(call: Promise<T>): Promise<T> {
    this.#calls.add(call);
    const forget = () => void setImmediate(() => this.#calls.delete(call));
    call.then(forget, forget);
    return call;
  }

  #stream(
    session: SessionContext,
    request: IncomingMessage,
    response: ServerResponse,
    url: URL,
    identity: TokenIdentity,
  ): void {
    if (identity.scope !== 'client' && identity.scope !== 'admin')
      throw new OrchestratorError('FORBIDDEN', {
        scope: identity.scope,
        operation: 'events',
        allowed: ['the tools of its MCP server'],
      });
    const end = streamEvents({
      feed: session.store,
      clock: session.clock,
      sessionId: session.sessionId,
      request,
      response,
      url,
    });
    this.#streams.add(end);
    response.on('close', () => this.#streams.delete(end));
  }

  #fail(response: ServerResponse, error: unknown): void {
    if (!(error instanceof OrchestratorError)) this.#session?.logger.error({ err: error }, 'request failed');
    if (response.headersSent) response.destroy();
    else sendProblem(response, error);
  }
}

function callerOf(session: SessionContext, identity: TokenIdentity): Caller {
  const { scope, workerId } = identity;
  if (workerId === null) return { scope, workerId, name: 'cli', callLimitMs: OWN_CLIENT_LIMIT_MS };
  const worker = session.store.worker(session.sessionId, workerId);
  const adapter = worker === null ? undefined : session.live?.agent(worker.agent).adapter;
  const limit =
    worker === null || adapter === undefined ? undefined : launchOf(adapter, worker.backend)?.mcpCallLimitMs;
  return { scope, workerId, name: workerId, callLimitMs: limit ?? UNKNOWN_CLIENT_LIMIT_MS };
}
