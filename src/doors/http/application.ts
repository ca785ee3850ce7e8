import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { fastify, type FastifyInstance, type FastifyRequest } from 'fastify';
import type { AddressInfo } from 'node:net';
import { OrchestratorError } from '../../core/errors/error.js';
import type { Gateway } from '../../services/gateway/gateway.js';
import { callGateway, type GatewayOperation } from '../../services/gateway/operation.js';
import { createMetrics, type Metrics } from '../../services/gateway/metrics.js';
import type { Caller } from '../../services/operation.js';
import { bearerOf, checkHost, checkOrigin } from '../shared/guard.js';
import { addAgentRoutes, type AgentCalls } from './agent-routes.js';
import { takeJsonOnly } from './content.js';
import { addHealth } from './health.js';
import { openApiDocument } from './openapi.js';
import { answerBrokenRequest, answerProblems, sendProblem } from './problem.js';
import { addOperations, refuseOtherMethods } from './routes.js';
import { addStreams, STREAM_ADDRESSES, takeSockets } from './stream.js';

const BODY_LIMIT_BYTES = 1024 * 1024;
/** An hour of waiting is the longest that can be asked for; who asks for it takes it. */
const CALLER: Caller = { scope: 'client', workerId: null, name: 'client', callLimitMs: Infinity };

export interface HttpApplicationOptions {
  readonly gateway: Gateway;
  readonly operations: readonly GatewayOperation[];
  /** null: everybody on this machine may call. */
  readonly isToken: ((given: string) => boolean) | null;
  /** What this machine is called besides its loopback names. */
  readonly hostNames: readonly string[];
  readonly agentCalls: AgentCalls;
  isReady(): boolean;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** open: without a token; agent, stream: the route asks for a token of its own, or takes a ticket. */
    access?: 'open' | 'agent' | 'stream';
  }
  interface FastifyRequest {
    caller: Caller;
  }
}

export interface HttpApplication {
  /** Resolves with the port. */
  listen(host: string, port: number): Promise<number>;
  /** Ends streams and connections; resolves when the port is free. */
  close(): Promise<void>;
}

/** The HTTP application: every operation of the table, its events, its documents, and its state of health. */
export async function createHttpApplication(options: HttpApplicationOptions): Promise<HttpApplication> {
  const { gateway, operations } = options;
  const { logger } = gateway;
  const app = fastify({
    logger: false,
    bodyLimit: BODY_LIMIT_BYTES,
    forceCloseConnections: true,
    // Before any hook: an address that cannot be decoded. Whose it is is checked all the same.
    frameworkErrors: (_error, { headers, url }, reply) => {
      const problem = thrownBy(() => checkHost(headers.host, portOf(app), options.hostNames));
      sendProblem(
        reply,
        problem ?? new OrchestratorError('NO_SUCH_ADDRESS', { path: url.split('?')[0] ?? '' }),
      );
    },
    clientErrorHandler: answerBrokenRequest,
    // Longer ones reach the operation, which says what is wrong with them.
    routerOptions: { maxParamLength: 10_000 },
    genReqId: (request) => requestId(request.headers['x-request-id']) ?? gateway.newId(),
  });
  takeJsonOnly(app);
  answerProblems(app, { logger, bodyLimit: BODY_LIMIT_BYTES });
  await takeSockets(app, gateway);
  const callerOf = (request: FastifyRequest) => knownCaller(request, options);
  guard(app, options, callerOf);
  const metrics = createMetrics(gateway);
  measure(app, metrics);
  addHealth(app, gateway, { isReady: () => options.isReady(), metrics });
  await addDocuments(app, operations, gateway.settings.version);
  addOperations(app, operations, (call) => callGateway(operations, gateway, call));
  addStreams(app, gateway, callerOf);
  addAgentRoutes(app, options.agentCalls);
  refuseOtherMethods(app, [...operations.map(({ address }) => address), ...STREAM_ADDRESSES]);
  return {
    async listen(host, port) {
      await app.listen({ host, port });
      return portOf(app);
    },
    async close() {
      metrics.close();
      await app.close();
    },
  };
}

function thrownBy(check: () => void): unknown {
  try {
    check();
    return null;
  } catch (error) {
    return error;
  }
}

/** null: its token is none of ours. */
function knownCaller(
  request: FastifyRequest,
  { agentCalls, isToken }: HttpApplicationOptions,
): Caller | null {
  const token = bearerOf(request) ?? '';
  const agent = agentCalls.callerOf(token);
  if (agent !== null) return agent;
  return isToken === null || isToken(token) ? CALLER : null;
}

/** What every request passes first, one to nowhere too and one for a socket: Host, Origin, token. */
function guard(
  app: FastifyInstance,
  { gateway, hostNames }: HttpApplicationOptions,
  callerOf: (request: FastifyRequest) => Caller | null,
): void {
  app.decorateRequest('caller', null as unknown as Caller);
  app.addHook('onRequest', async (request, reply) => {
    void reply.headers({
      'x-request-id': request.id,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    // The answer to an upgrade that is refused is the last on its connection.
    if (request.ws) void reply.header('connection', 'close');
    const port = portOf(app);
    checkHost(request.headers.host, port, hostNames);
    checkOrigin(request.headers.origin, port, hostNames);
    const caller = callerOf(request);
    request.caller = caller ?? CALLER;
    const { access } = request.routeOptions.config;
    if (access === undefined && caller === null) throw new OrchestratorError('UNAUTHENTICATED');
    if (request.ws && access !== 'stream')
      throw new OrchestratorError('INVALID_INPUT', {
        field: 'upgrade',
        problem: 'only /stream is a WebSocket',
      });
  });
  app.addHook('onResponse', async (request, reply) => {
    gateway.logger.debug(
      {
        request_id: request.id,
        method: request.method,
        // The pattern, not the address: what stands in a query is nobody's business.
        route: request.routeOptions.url ?? 'none',
        status: reply.statusCode,
        duration_ms: Math.round(reply.elapsedTime),
      },
      'request answered',
    );
  });
}

function measure(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', async ({ method, routeOptions }, { statusCode: status, elapsedTime }) =>
    metrics.request({ method, route: routeOptions.url ?? 'none', status }, elapsedTime / 1_000),
  );
}

/** OpenAPI and the pages that show it hold nothing of the database, and a page cannot bring a token. */
async function addDocuments(
  app: FastifyInstance,
  operations: readonly GatewayOperation[],
  version: string,
): Promise<void> {
  const document = openApiDocument(operations, version);
  app.addHook('onRoute', (route) => {
    if (route.url.startsWith('/api/docs')) route.config = { ...route.config, access: 'open' };
  });
  await app.register(swagger, { mode: 'static', specification: { document: document as never } });
  await app.register(swaggerUi, {
    ...{ routePrefix: '/api/docs', staticCSP: true },
    // There is no https here to upgrade to.
    transformStaticCSP: (policy) => policy.replace(/\s*upgrade-insecure-requests;?/, ''),
  });
  app.get('/openapi.json', { config: { access: 'open' } }, () => document);
}

/** A caller's own id, where it is one. */
function requestId(given: FastifyRequest['headers'][string]): string | null {
  return typeof given === 'string' && /^[\w.:-]{1,100}$/.test(given) ? given : null;
}

function portOf(app: FastifyInstance): number {
  return (app.server.address() as AddressInfo | null)?.port ?? 0;
}
