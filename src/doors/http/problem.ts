import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { OrchestratorError } from '../../core/errors/error.js';
import type { Logger } from '../../platform/logger.js';
import { problemHeaders, problemOf } from '../shared/http.js';

/** Every failure as RFC 9457; what is unexpected is logged and not described to the caller. */
export function answerProblems(app: FastifyInstance, options: { logger: Logger; bodyLimit: number }): void {
  app.setErrorHandler((thrown, request, reply) => {
    const error = ofFastify(thrown, request, options.bodyLimit);
    if (!(error instanceof OrchestratorError))
      options.logger.error({ err: error, request_id: request.id }, 'request failed');
    sendProblem(reply, error);
  });
  app.setNotFoundHandler((request, reply) => {
    const [path = ''] = request.url.split('?');
    sendProblem(reply, new OrchestratorError('NO_SUCH_ADDRESS', { path }));
  });
}

export function sendProblem(reply: FastifyReply, error: unknown): void {
  const { status, body } = problemOf(error);
  void reply
    .headers(problemHeaders(status))
    .code(status)
    .type('application/problem+json; charset=utf-8')
    .send(JSON.stringify(body));
}

/** What is no HTTP request at all, or one that Node refuses to read. */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const { body } = problemOf(
    new OrchestratorError('MALFORMED_REQUEST', { problem: brokenWords(error.code) }),
  );
  const status = BROKEN_STATUS[error.code ?? ''] ?? 400;
  const text = JSON.stringify({ ...body, status });
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
      'Content-Type: application/problem+json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(text)}`,
      'Connection: close',
      '',
      text,
    ].join('\r\n'),
  );
}

const BROKEN_STATUS: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

function brokenWords(code: string | undefined): string {
  if (code === 'HPE_HEADER_OVERFLOW') return 'its head is longer than 16 KiB';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'it did not come to its end in time';
  return `it is no HTTP request (${code ?? 'unknown'})`;
}

/** What fastify itself refuses, in our words. */
function ofFastify(thrown: unknown, request: FastifyRequest, limit: number): unknown {
  if (thrown instanceof OrchestratorError) return thrown;
  const { code, statusCode, message } = thrown as {
    code?: string;
    statusCode?: number;
    message?: string;
  };
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new OrchestratorError('BODY_TOO_LARGE', { limit });
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new OrchestratorError('UNSUPPORTED_MEDIA_TYPE', {
        type: request.headers['content-type'] ?? '',
      });
    default:
      return statusCode !== undefined && statusCode < 500
        ? new OrchestratorError('INVALID_INPUT', { problem: message })
        : thrown;
  }
}
