import type { FastifyInstance, FastifyRequest } from 'fastify';
import { OrchestratorError } from '../../core/errors/error.js';
import type { GatewayOperation } from '../../services/gateway/operation.js';
import type { Caller } from '../../services/operation.js';
import { hangUp } from '../shared/http.js';
import { propertiesOf } from '../shared/projection.js';

export type CallOperation = (call: {
  operation: string;
  input: unknown;
  caller: Caller;
  signal: AbortSignal;
}) => Promise<Record<string, unknown>>;

/** One route for each operation of the table. */
export function addOperations(
  app: FastifyInstance,
  operations: readonly GatewayOperation[],
  call: CallOperation,
): void {
  for (const operation of operations) {
    const { method, path } = operation.address;
    app.route({
      ...{ method, url: fastifyPath(path), exposeHeadRoute: false },
      async handler(request, reply) {
        const input = inputOf(operation, request);
        const { caller } = request;
        const answer = await call({ operation: operation.name, input, caller, signal: hangUp(reply.raw) });
        if (answer['idempotent_replay'] === true) void reply.header('idempotency-replayed', 'true');
        const { status, otherwise } = operation.address;
        return reply.code(otherwise?.when(answer) === true ? otherwise.status : status).send(answer);
      },
    });
  }
}

/** Other methods of addresses that are there say which ones those take. */
export function refuseOtherMethods(app: FastifyInstance, routes: readonly Route[]): void {
  for (const path of new Set(routes.map((route) => route.path))) {
    const allowed = routes.filter((route) => route.path === path).map(({ method }) => method);
    app.route({
      method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((method) => !allowed.includes(method)),
      ...{ url: fastifyPath(path), exposeHeadRoute: false },
      handler({ method }, reply) {
        void reply.header('allow', allowed.join(', '));
        throw new OrchestratorError('METHOD_NOT_ALLOWED', { path, method, allowed });
      },
    });
  }
}

export interface Route {
  readonly method: string;
  readonly path: string;
}

/** `/runs/{run_id}` → `/runs/:run_id`. */
function fastifyPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

/** Fields come from the address, the query (GET) or the body, and the key of a repeatable request from its header too. */
function inputOf(operation: GatewayOperation, request: FastifyRequest): Record<string, unknown> {
  const given =
    request.method === 'GET' ? fromQuery(operation, request.query as Query) : fromBody(request.body);
  const params = request.params as Record<string, string>;
  for (const field of Object.keys(params))
    if (field in given)
      throw new OrchestratorError('INVALID_INPUT', { field, problem: 'it is part of the address' });
  return { ...given, ...keyOf(operation, request, given), ...params };
}

type Query = Record<string, string | string[]>;

/** A field that takes a list may be repeated; every other field stands once. */
function fromQuery(operation: GatewayOperation, query: Query): Record<string, unknown> {
  const properties = propertiesOf(operation);
  return Object.fromEntries(
    Object.entries(query).map(([field, value]) => {
      const isList = properties[field]?.type === 'array';
      if (!isList && Array.isArray(value))
        throw new OrchestratorError('INVALID_INPUT', { field, problem: 'it is given more than once' });
      return [field, isList ? [value].flat() : value];
    }),
  );
}

function fromBody(body: unknown): Record<string, unknown> {
  if (body === undefined || body === null) return {};
  if (typeof body === 'object' && !Array.isArray(body)) return body as Record<string, unknown>;
  throw new OrchestratorError('INVALID_INPUT', { field: 'body', problem: 'it is no JSON object' });
}

function keyOf(
  operation: GatewayOperation,
  request: FastifyRequest,
  given: Record<string, unknown>,
): { idempotency_key?: string } {
  const header = request.headers['idempotency-key'];
  if (header === undefined || !('idempotency_key' in operation.input.shape)) return {};
  const key = String(header);
  const inBody = given['idempotency_key'] ?? key;
  if (inBody === key) return { idempotency_key: key };
  throw new OrchestratorError('INVALID_INPUT', {
    field: 'idempotency_key',
    problem: 'it is not the one of the header Idempotency-Key',
  });
}
