import type { IncomingMessage, ServerResponse } from 'node:http';
import { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createHookDoor } from '../../../src/doors/hooks/door.js';
import { createRestDoor } from '../../../src/doors/rest/door.js';
import { defineOperation, EVERY_DOOR, type Caller, type Operation } from '../../../src/services/operation.js';

const CALLER: Caller = { scope: 'client', workerId: null, name: 'cli', callLimitMs: 1_000 };

const common = {
  summary: 'For this test.',
  idempotent: true,
  scopes: ['client'],
  doors: EVERY_DOOR,
} as const;
const look = defineOperation({
  ...common,
  name: 'look_at',
  effect: 'read',
  input: z.object({
    id: z.string().optional(),
    ids: z.array(z.string()).optional(),
    lines: z.coerce.number().int().min(1).default(5),
    all: z.stringbool().or(z.boolean()).default(false),
  }),
  output: z.object({}),
  run: async () => ({}),
});
const change = defineOperation({
  ...common,
  name: 'change',
  effect: 'write',
  input: z.object({}),
  output: z.object({}),
  run: async () => ({}),
});
const destroy = defineOperation({ ...change, name: 'destroy', effect: 'destroy' });
const hidden = defineOperation({
  ...change,
  name: 'hidden',
  doors: { ...EVERY_DOOR, rest: 'not for people at all' },
});
const OPERATIONS: readonly Operation[] = [look, change, destroy, hidden];

class FakeResponse extends EventEmitter {
  headersSent = false;
  writableEnded = false;
  status = 0;
  readonly headers: Record<string, unknown> = {};
  body: unknown = null;

  setHeader(name: string, value: unknown): void {
    this.headers[name] = value;
  }

  writeHead(status: number, headers: Record<string, unknown>): void {
    this.status = status;
    Object.assign(this.headers, headers);
  }

  end(text: string): void {
    this.writableEnded = true;
    this.body = JSON.parse(text);
  }
}

const message = (method: string, body: unknown) =>
  Object.assign(Readable.from(body === undefined ? [] : [Buffer.from(JSON.stringify(body))]), {
    method,
    headers: { 'content-type': 'application/json' },
  }) as unknown as IncomingMessage;

/** What the operation was given, what the client got, and whether the path is ours. */
async function ask(method: string, path: string, body?: unknown) {
  const calls: { operation: string; input: unknown }[] = [];
  const door = createRestDoor({
    operations: OPERATIONS,
    call: async ({ operation, input }) => {
      calls.push({ operation, input });
      return { ok: true };
    },
  });
  const response = new FakeResponse();
  const ours = await door.handle(
    message(method, body),
    response as unknown as ServerResponse,
    new URL(path, 'http://localhost'),
    CALLER,
  );
  return { ours, calls, status: response.status, headers: response.headers, body: response.body };
}

describe('the query of a read', () => {
  it.each<[string, Record<string, unknown>]>([
    ['', {}],
    ['?id=w01', { id: 'w01' }],
    ['?id=', { id: '' }],
    ['?ids=w01&ids=w02', { ids: ['w01', 'w02'] }],
    ['?ids=w01', { ids: ['w01'] }],
    ['?lines=7&all=true', { lines: '7', all: 'true' }],
    ['?id=a%26b+c%2Fd', { id: 'a&b c/d' }],
    ['?unknown=x', { unknown: 'x' }],
  ])('%j becomes %j', async (query, input) => {
    expect((await ask('GET', `/api/look-at${query}`)).calls).toEqual([{ operation: 'look_at', input }]);
  });

  it.each<[string, unknown]>([
    ['?lines=7&all=true', { lines: 7, all: true }],
    ['?all=false', { lines: 5, all: false }],
    ['?all=no&ids=x', { lines: 5, all: false, ids: ['x'] }],
    ['?lines=seven', null],
    ['?lines=0', null],
    ['?lines=1.5', null],
  ])('%j is taken by the schema as %j', async (query, expected) => {
    const [call] = (await ask('GET', `/api/look-at${query}`)).calls;
    expect(look.input.safeParse(call?.input).data ?? null).toEqual(expected);
  });

  it('may not give one value twice', async () => {
    await expect(ask('GET', '/api/look-at?id=a&id=b')).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      params: { field: 'id', problem: 'it is given more than once' },
    });
  });

  it('has no way around the fields of the operation', async () => {
    const { calls } = await ask('GET', '/api/look-at?__proto__=x&constructor=y');
    expect(Object.getPrototypeOf(calls[0]?.input)).toBe(Object.prototype);
    expect(look.input.strict().safeParse(calls[0]?.input).success).toBe(false);
  });
});

describe('the paths of the operations', () => {
  it('take a body for what changes something, and {} for none', async () => {
    expect((await ask('POST', '/api/change', { a: 1 })).calls).toEqual([
      { operation: 'change', input: { a: 1 } },
    ]);
    expect((await ask('POST', '/api/destroy')).calls).toEqual([{ operation: 'destroy', input: {} }]);
  });

  it.each([
    ['POST', '/api/look-at', 'GET'],
    ['GET', '/api/change', 'POST'],
    ['DELETE', '/api/destroy', 'POST'],
  ])('answer %s %s with the method to use', async (method, path, allowed) => {
    const { ours, status, headers, calls } = await ask(method, path);
    expect([ours, status, headers['allow'], calls]).toEqual([true, 405, allowed, []]);
  });

  it.each(['/api/hidden', '/api/look_at', '/api/look-at/', '/look-at', '/api/nothing'])(
    'do not include %s',
    async (path) => {
      expect(await ask('GET', path)).toMatchObject({ ours: false, calls: [], status: 0 });
    },
  );

  it('are listed with method, path and schema', async () => {
    const { body } = await ask('GET', '/api/operations');
    const { operations } = body as { operations: { name: string; method: string; path: string }[] };
    expect(operations.map(({ name, method, path }) => [name, method, path])).toEqual([
      ['look_at', 'GET', '/api/look-at'],
      ['change', 'POST', '/api/change'],
      ['destroy', 'POST', '/api/destroy'],
    ]);
  });
});

describe('a client that hangs up', () => {
  /** Closes the connection while the call is under way, or after its answer; says whether the call was aborted. */
  async function closed(when: 'during' | 'after'): Promise<boolean> {
    const response = new FakeResponse();
    const signals: AbortSignal[] = [];
    const door = createRestDoor({
      operations: OPERATIONS,
      call: async ({ signal }) => {
        signals.push(signal);
        if (when === 'during') response.emit('close');
        return {};
      },
    });
    const url = new URL('/api/change', 'http://localhost');
    await door.handle(message('POST', {}), response as unknown as ServerResponse, url, CALLER);
    response.emit('close');
    return signals.some(({ aborted }) => aborted);
  }

  it('aborts its call, unless it has its answer', async () => {
    expect([await closed('during'), await closed('after')]).toEqual([true, false]);
  });
});

describe('the door of the hooks', () => {
  const post = async (
    identity: { scope: 'worker' | 'client'; workerId: string | null },
    method = 'POST',
    answer: unknown = null,
  ) => {
    const heard: unknown[] = [];
    const response = new FakeResponse();
    const door = createHookDoor(async (workerId, body) => {
      heard.push([workerId, body]);
      return answer;
    });
    await door(message(method, { event: 'Stop' }), response as unknown as ServerResponse, identity);
    return { heard, body: response.body };
  };

  it('gives the body to the worker of the token, and the answer back as it is', async () => {
    const worker = { scope: 'worker', workerId: 'w01' } as const;
    expect(await post(worker)).toEqual({ heard: [['w01', { event: 'Stop' }]], body: {} });
    expect((await post(worker, 'POST', { decision: 'block' })).body).toEqual({ decision: 'block' });
  });

  it('is closed for people, and for other methods', async () => {
    await expect(post({ scope: 'client', workerId: null })).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(post({ scope: 'worker', workerId: 'w01' }, 'GET')).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      params: { field: 'method', problem: 'use POST' },
    });
  });
});
