import { describe, expect, it } from 'vitest';
import { CATALOG, type CatalogEntry, type ErrorCode } from '../../../src/core/errors/catalog.js';
import { CATEGORIES, type Category } from '../../../src/core/errors/categories.js';
import { errorBody, OrchestratorError, toOrchestratorError } from '../../../src/core/errors/error.js';

const CODES = Object.keys(CATALOG) as ErrorCode[];
const entryOf = (code: ErrorCode): CatalogEntry => CATALOG[code];

/** Any parameter is given: its own name as the value. */
const anyParams = new Proxy<Record<string, string>>({}, { get: (_target, name) => `<${String(name)}>` });

describe('every category means the same at every door', () => {
  it.each<[Category, number, number, string, boolean]>([
    ['usage', 64, 400, 'invalid_request_error', false],
    ['not_found', 1, 404, 'invalid_request_error', false],
    ['conflict', 1, 409, 'invalid_request_error', false],
    ['precondition', 1, 409, 'invalid_request_error', false],
    ['denied', 4, 403, 'permission_error', false],
    ['limit', 1, 429, 'rate_limit_error', true],
    ['timeout', 2, 504, 'server_error', true],
    ['agent', 2, 502, 'server_error', false],
    ['unavailable', 3, 503, 'server_error', true],
    ['internal', 1, 500, 'server_error', false],
  ])('%s: exit %i, HTTP %i, %s, retryable %s', (category, exit, http, openai, retryable) => {
    expect(CATEGORIES[category]).toEqual({ exit, http, openai, retryable });
    const code = CODES.find(
      (candidate) => entryOf(candidate).category === category && entryOf(candidate).http === undefined,
    );
    if (code === undefined) throw new Error(`no code of ${category}`);
    const error = new OrchestratorError(code, anyParams);
    expect([error.category, error.exitCode, error.httpStatus, error.retryable]).toEqual([
      category,
      exit,
      http,
      retryable,
    ]);
  });

  it('there are no others', () => {
    expect(Object.keys(CATEGORIES)).toHaveLength(10);
  });
});

describe('every code', () => {
  it.each(CODES)(
    '%s is one line of text that names what it is about, with a hint that is one too',
    (code) => {
      const error = new OrchestratorError(code, anyParams);
      for (const text of [error.message, error.hint ?? 'none']) {
        expect(text).toMatch(/^[^\n]+$/);
        expect(text).not.toMatch(/undefined|null|\[object|NaN/);
      }
      expect(error.message.endsWith('.')).toBe(false);
    },
  );

  it.each(CODES)('%s needs no parameter to be rendered', (code) => {
    const error = new OrchestratorError(code);
    expect(error.message).not.toBe('');
    expect(error.hint ?? 'none').toEqual(expect.any(String));
  });
});

it.each<[ErrorCode, number]>([
  ['INVALID_INPUT', 422],
  ['UNAUTHENTICATED', 401],
  ['BODY_TOO_LARGE', 413],
])('%s has a status of its own: %i', (code, status) => {
  expect(new OrchestratorError(code, anyParams).httpStatus).toBe(status);
});

it('only these have a status of their own', () => {
  expect(CODES.filter((code) => entryOf(code).http !== undefined)).toEqual([
    'INVALID_INPUT',
    'BODY_TOO_LARGE',
    'UNSUPPORTED_MEDIA_TYPE',
    'METHOD_NOT_ALLOWED',
    'UNAUTHENTICATED',
  ]);
});

it('the object of an error is whole, JSON, and has a hint only where there is one', () => {
  const error = new OrchestratorError('WORKER_DIRTY', { worker: 'w01', files: ['a.ts', 'b.ts'] });
  expect(JSON.parse(JSON.stringify(errorBody(error)))).toEqual({
    code: 'WORKER_DIRTY',
    message: 'worker w01 has uncommitted changes: a.ts, b.ts',
    hint: 'send the worker a message to commit, or call again with commit:true',
    retryable: false,
    params: { worker: 'w01', files: ['a.ts', 'b.ts'] },
  });
  expect(errorBody(new OrchestratorError('RUN_ALREADY_ENDED', { run: 'r', state: 'failed' }))).toEqual({
    code: 'RUN_ALREADY_ENDED',
    message: 'run r has already ended (failed)',
    retryable: false,
    params: { run: 'r', state: 'failed' },
  });
});

it('what was not ours becomes INTERNAL and keeps its cause; what was stays itself', () => {
  const own = new OrchestratorError('NO_AGENTS', { wanted: [] });
  expect(toOrchestratorError(own)).toBe(own);
  const cause = new TypeError('x is not a function');
  const wrapped = toOrchestratorError(cause);
  expect([wrapped.code, wrapped.message, wrapped.cause]).toEqual([
    'INTERNAL',
    'unexpected: x is not a function',
    cause,
  ]);
  expect(toOrchestratorError('text').message).toBe('unexpected: text');
});
