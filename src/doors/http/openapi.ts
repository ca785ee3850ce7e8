import { z } from 'zod';
import { CATALOG } from '../../core/errors/catalog.js';
import type { GatewayOperation } from '../../services/gateway/operation.js';
import { inputSchema, outputSchema } from '../shared/projection.js';
import { healthPaths } from './openapi-health.js';
import { streamPaths } from './openapi-streams.js';

type Schema = Record<string, unknown>;

const problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.number(),
  detail: z.string(),
  code: z.string().describe(`one of: ${Object.keys(CATALOG).join(', ')}`),
  hint: z.string().optional(),
  field: z.string().optional().describe('what in the request is not valid'),
  allowed: z.array(z.string()).optional().describe('what a run may become instead'),
  retryable: z.boolean(),
});

const PROBLEM = {
  description: 'what went wrong (RFC 9457)',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
};

/** OpenAPI 3.1 of the table; nothing of it is written by hand but the streams, which are no operations. */
export function openApiDocument(operations: readonly GatewayOperation[], version: string): Schema {
  const paths: Record<string, Schema> = {};
  for (const operation of operations) {
    const { method, path } = operation.address;
    paths[path] = { ...paths[path], [method.toLowerCase()]: describe(operation) };
  }
  Object.assign(paths, streamPaths(PROBLEM), healthPaths(PROBLEM));
  return {
    openapi: '3.1.0',
    info: {
      title: 'agentorchestr gateway',
      version,
      description:
        'Sessions, messages, runs and events of coding agents. Errors are problem+json with a code; ids are opaque.',
    },
    paths,
    components: {
      schemas: { Problem: outputSchema(problem) },
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    },
    security: [{ bearer: [] }],
  };
}

function describe(operation: GatewayOperation): Schema {
  const { method, path, status, otherwise } = operation.address;
  const { properties = {}, required = [] } = inputSchema(operation) as {
    properties?: Record<string, Schema>;
    required?: string[];
  };
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const others = Object.keys(properties).filter((name) => !inPath.includes(name));
  const parameter = (name: string, place: 'path' | 'query') => {
    const { description, ...schema } = properties[name] ?? {};
    return {
      ...{ name, in: place, required: place === 'path' || required.includes(name), schema },
      ...(description === undefined ? {} : { description }),
    };
  };
  const isRead = method === 'GET';
  const answer = {
    description: 'done',
    content: { 'application/json': { schema: outputSchema(operation.output) } },
  };
  const body = {
    type: 'object',
    properties: Object.fromEntries(others.map((name) => [name, properties[name]])),
    required: required.filter((name) => others.includes(name)),
    additionalProperties: false,
  };
  return {
    ...{ operationId: operation.name, summary: operation.summary },
    parameters: [
      ...inPath.map((name) => parameter(name, 'path')),
      ...(isRead ? others.map((name) => parameter(name, 'query')) : []),
      ...('idempotency_key' in properties ? [KEY_HEADER] : []),
    ],
    ...(isRead || others.length === 0
      ? {}
      : { requestBody: { required: false, content: { 'application/json': { schema: body } } } }),
    responses: {
      [status]: answer,
      ...(otherwise === undefined ? {} : { [otherwise.status]: answer }),
      default: PROBLEM,
    },
  };
}

const KEY_HEADER = {
  ...{ name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string' } },
  description: 'the same as idempotency_key of the body',
};
