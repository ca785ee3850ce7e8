import type { IncomingMessage, ServerResponse } from 'node:http';
import { errorBody, OrchestratorError, toOrchestratorError } from '../../core/errors/error.js';
import { parseJson } from './json.js';

export const BODY_LIMIT_BYTES = 4 * 1024 * 1024;

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  type = 'application/json',
): void {
  if (response.headersSent) return;
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': `${type}; charset=utf-8`,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  response.end(text);
}

/** RFC 9457 with `code`, `hint` and `retryable` added. What is unexpected is not described to the caller. */
export function problemOf(thrown: unknown): { status: number; body: Record<string, unknown> } {
  const error = toOrchestratorError(thrown);
  const { code, message, hint, retryable, params } = errorBody(error);
  const detail = code === 'INTERNAL' ? 'an unexpected failure; see the log' : message;
  return {
    status: error.httpStatus,
    body: {
      type: 'about:blank',
      title: code,
      status: error.httpStatus,
      detail,
      code,
      ...(hint === undefined ? {} : { hint }),
      ...(code === 'INVALID_INPUT' && typeof params['field'] === 'string' ? { field: params['field'] } : {}),
      ...(code === 'INVALID_TRANSITION' ? { allowed: params['allowed'] } : {}),
      retryable,
    },
  };
}

/** Aborts when the client closes before it got its answer. */
export function hangUp(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.on('close', () => {
    if (!response.writableEnded) controller.abort();
  });
  return controller.signal;
}

/** What goes with a status besides its body. */
export function problemHeaders(status: number): Readonly<Record<string, string>> {
  if (status === 401) return { 'www-authenticate': 'Bearer' };
  return status === 429 ? { 'retry-after': '10' } : {};
}

export function sendProblem(response: ServerResponse, thrown: unknown): void {
  const { status, body } = problemOf(thrown);
  for (const [name, value] of Object.entries(problemHeaders(status))) response.setHeader(name, value);
  sendJson(response, status, body, 'application/problem+json');
}

/** The parsed JSON body; undefined when it is empty. Throws INVALID_INPUT, INVALID_JSON, BODY_TOO_LARGE. */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_LIMIT_BYTES) throw new OrchestratorError('BODY_TOO_LARGE', { limit: BODY_LIMIT_BYTES });
    chunks.push(chunk);
  }
  if (size === 0) return undefined;
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json')
    throw new OrchestratorError('INVALID_INPUT', {
      field: 'content-type',
      problem: `"${type ?? ''}" is not accepted`,
      hint: 'send application/json',
    });
  return parseJson(Buffer.concat(chunks).toString('utf8'));
}
