import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { CATALOG, type ErrorCode } from '../../../src/core/errors/catalog.js';
import { CATEGORIES, type Category } from '../../../src/core/errors/categories.js';
import { OrchestratorError } from '../../../src/core/errors/error.js';
import {
  BODY_LIMIT_BYTES,
  problemOf,
  readJson,
  sendJson,
  sendProblem,
} from '../../../src/doors/shared/http.js';

const codes = Object.keys(CATALOG) as ErrorCode[];
const ofCategory = (category: Category) => codes.find((code) => CATALOG[code].category === category);

/** What was answered. */
function answer(work: (response: ServerResponse) => void, headersSent = false) {
  const headers: Record<string, unknown> = {};
  const sent = { status: 0, body: '', headers };
  const response = {
    headersSent,
    setHeader: (name: string, value: unknown) => void (headers[name] = value),
    writeHead(status: number, more: Record<string, unknown>) {
      sent.status = status;
      Object.assign(headers, more);
    },
    end: (text: string) => void (sent.body = text),
  };
  work(response as unknown as ServerResponse);
  return sent;
}

describe('a problem', () => {
  it.each(Object.keys(CATEGORIES) as Category[])(
    'of category %s has its status, code and hint',
    (category) => {
      const code = ofCategory(category);
      if (code === undefined) throw new Error(`no code of ${category}`);
      const error = new OrchestratorError(code, { field: 'x', problem: 'y', hint: 'z', valid: ['a'] });
      const { status, body } = problemOf(error);
      expect(status).toBe(error.httpStatus);
      expect(body).toEqual({
        type: 'about:blank',
        title: code,
        status: error.httpStatus,
        detail: code === 'INTERNAL' ? 'an unexpected failure; see the log' : error.message,
        code,
        ...(error.hint === undefined ? {} : { hint: error.hint }),
        ...(code === 'INVALID_INPUT' ? { field: 'x' } : {}),
        retryable: CATEGORIES[category].retryable,
      });
    },
  );

  it.each<[ErrorCode, number]>([
    ['INVALID_INPUT', 422],
    ['UNAUTHENTICATED', 401],
    ['BODY_TOO_LARGE', 413],
    ['LIMIT_REACHED', 429],
    ['UNKNOWN_WORKER', 404],
    ['WORKER_DIRTY', 409],
    ['SHUTTING_DOWN', 503],
    ['INTERNAL', 500],
  ])('%s is %i', (code, status) => {
    expect(problemOf(new OrchestratorError(code)).status).toBe(status);
  });

  it.each([new Error('password is hunter2'), 'hunter2', undefined, { hunter2: 1 }])(
    'of something unexpected (%j) tells the caller nothing of it',
    (thrown) => {
      const { status, body } = problemOf(thrown);
      expect([status, body['code'], body['detail']]).toEqual([
        500,
        'INTERNAL',
        'an unexpected failure; see the log',
      ]);
      expect(JSON.stringify(body)).not.toContain('hunter2');
    },
  );

  it('is sent as one, and says how to come again', () => {
    const unauthenticated = answer((response) =>
      sendProblem(response, new OrchestratorError('UNAUTHENTICATED')),
    );
    expect(unauthenticated.headers).toMatchObject({
      'www-authenticate': 'Bearer',
      'content-type': 'application/problem+json; charset=utf-8',
    });
    expect(
      answer((response) => sendProblem(response, new OrchestratorError('LIMIT_REACHED'))).headers,
    ).toMatchObject({ 'retry-after': '10' });
  });
});

describe('an answer', () => {
  it('has its length in bytes and may not be kept or guessed at', () => {
    expect(answer((response) => sendJson(response, 200, { say: 'über' }))).toEqual({
      status: 200,
      body: '{"say":"über"}',
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'content-length': 15,
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      },
    });
  });

  it('is not given twice', () => {
    expect(answer((response) => sendJson(response, 200, {}), true)).toEqual({
      status: 0,
      body: '',
      headers: {},
    });
  });
});

function request(body: readonly (string | Buffer)[], type: string | undefined = 'application/json') {
  return Object.assign(Readable.from(body.map((chunk) => Buffer.from(chunk))), {
    headers: { 'content-type': type },
  }) as unknown as IncomingMessage;
}

const code = (expected: ErrorCode, params: Record<string, unknown> = {}) => ({ code: expected, params });

describe('a body', () => {
  it('is parsed, whatever pieces it comes in', async () => {
    const bytes = Buffer.from('{"say":"über"}');
    expect(await readJson(request([bytes.subarray(0, 9), bytes.subarray(9)]))).toEqual({ say: 'über' });
  });

  it('may be missing, with any type', async () => {
    expect(await readJson(request([], 'text/plain'))).toBeUndefined();
  });

  it.each(['application/json; charset=utf-8', 'Application/JSON', ' application/json '])(
    'may be of type %j',
    async (type) => {
      expect(await readJson(request(['1'], type))).toBe(1);
    },
  );

  it.each([
    undefined,
    '',
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonx',
    'text/json',
  ])('may not be of type %j', async (type) => {
    const odd = Object.assign(request(['{}']), { headers: { 'content-type': type } });
    await expect(readJson(odd)).rejects.toMatchObject(
      code('INVALID_INPUT', { field: 'content-type', problem: `"${type ?? ''}" is not accepted` }),
    );
  });

  it.each(['{', "{'a':1}", 'undefined', '{"a":1}}', ' '])('that is no JSON is refused: %j', async (text) => {
    await expect(readJson(request([text]))).rejects.toMatchObject({
      code: 'INVALID_JSON',
      httpStatus: 400,
    });
  });

  it('may have exactly the size of the limit, and one byte more is too much', async () => {
    const text = JSON.stringify('x'.repeat(BODY_LIMIT_BYTES - 2));
    expect(await readJson(request([text]))).toHaveLength(BODY_LIMIT_BYTES - 2);
    await expect(readJson(request([text, ' ']))).rejects.toMatchObject(
      code('BODY_TOO_LARGE', { limit: BODY_LIMIT_BYTES }),
    );
  });

  it('that is too large is not read to its end', async () => {
    let read = 0;
    const endless = Object.assign(
      Readable.from(
        (function* () {
          for (;;) {
            read += 1;
            yield Buffer.alloc(1024 * 1024);
          }
        })(),
      ),
      { headers: {} },
    ) as unknown as IncomingMessage;
    await expect(readJson(endless)).rejects.toMatchObject({ code: 'BODY_TOO_LARGE' });
    expect(read).toBeLessThan(10);
  });
});
