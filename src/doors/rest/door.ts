import type { IncomingMessage, ServerResponse } from 'node:http';
import { OrchestratorError } from '../../core/errors/error.js';
import type { Caller, Operation } from '../../services/operation.js';
import { inputSchema, kebab, propertiesOf } from '../shared/projection.js';
import { hangUp, readJson, sendJson } from '../shared/http.js';

export interface RestDoorOptions {
  readonly operations: readonly Operation[];
  call(call: {
    operation: string;
    input: unknown;
    caller: Caller;
    signal: AbortSignal;
  }): Promise<Record<string, unknown>>;
}

/** `GET /api/list-workers`, `POST /api/spawn-worker`: reads take their input from the query, all others a JSON body. */
export function createRestDoor(options: RestDoorOptions) {
  const offered = options.operations.filter((operation) => operation.doors.rest === true);
  const byPath = new Map(offered.map((operation) => [`/api/${kebab(operation.name)}`, operation]));

  return {
    /** false when the path is not ours. */
    async handle(
      request: IncomingMessage,
      response: ServerResponse,
      url: URL,
      caller: Caller,
    ): Promise<boolean> {
      if (url.pathname === '/api/operations') {
        sendJson(response, 200, { operations: offered.map(describe) });
        return true;
      }
      const operation = byPath.get(url.pathname);
      if (operation === undefined) return false;
      const method = methodOf(operation);
      if (request.method !== method) {
        response.setHeader('allow', method);
        sendJson(
          response,
          405,
          { type: 'about:blank', title: 'method not allowed', status: 405, detail: `use ${method}` },
          'application/problem+json',
        );
        return true;
      }
      const body = await readJson(request);
      const input = method === 'GET' ? fromQuery(url.searchParams, operation) : (body ?? {});
      sendJson(
        response,
        200,
        await options.call({ operation: operation.name, input, caller, signal: hangUp(response) }),
      );
      return true;
    },
  };
}

function methodOf(operation: Operation): 'GET' | 'POST' {
  return operation.effect === 'read' ? 'GET' : 'POST';
}

function describe(operation: Operation): Record<string, unknown> {
  return {
    name: operation.name,
    summary: operation.summary,
    method: methodOf(operation),
    path: `/api/${kebab(operation.name)}`,
    input: inputSchema(operation),
  };
}

/** A field that takes a list may be repeated; every other field stands once. Types are coerced by the schema. */
function fromQuery(query: URLSearchParams, operation: Operation): Record<string, unknown> {
  const properties = propertiesOf(operation);
  const input: Record<string, unknown> = {};
  for (const name of new Set(query.keys())) {
    const values = query.getAll(name);
    const isList = properties[name]?.type === 'array';
    if (!isList && values.length > 1)
      throw new OrchestratorError('INVALID_INPUT', { field: name, problem: 'it is given more than once' });
    input[name] = isList ? values : values[0];
  }
  return input;
}
