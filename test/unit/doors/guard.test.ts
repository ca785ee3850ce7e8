import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { OrchestratorError } from '../../../src/core/errors/error.js';
import { admit, checkHost } from '../../../src/doors/shared/guard.js';
import { createTokens, newSecret } from '../../../src/platform/tokens.js';

const PORT = 4100;
const tokens = createTokens(newSecret(), '3f2a91bc');
const TOKEN = tokens.issue({ scope: 'client', workerId: null });
const GOOD = { host: `127.0.0.1:${PORT}`, authorization: `Bearer ${TOKEN}` };

const enter = (headers: Record<string, string | undefined>) =>
  admit({ headers: { ...GOOD, ...headers } } as unknown as IncomingMessage, tokens, PORT);

/** 'in', or the code and the header that kept it out. */
function verdict(work: () => unknown): string {
  try {
    work();
    return 'in';
  } catch (error) {
    if (!(error instanceof OrchestratorError)) throw error;
    return [error.code, error.params['header']].filter((part) => part !== undefined).join(' ');
  }
}

describe('the Host of a request', () => {
  it.each([`127.0.0.1:${PORT}`, `localhost:${PORT}`, `LocalHost:${PORT}`, `[::1]:${PORT}`])(
    'may be %s',
    (host) => {
      expect(verdict(() => enter({ host }))).toBe('in');
    },
  );

  it.each([
    undefined,
    '',
    ':',
    `:${PORT}`,
    '127.0.0.1',
    'localhost',
    `localhost:${PORT + 1}`,
    `localhost:0${PORT}`,
    `localhost:${PORT} `,
    `localhost:${PORT}:${PORT}`,
    `localhost.:${PORT}`,
    `127.0.0.2:${PORT}`,
    `127.1:${PORT}`,
    `2130706433:${PORT}`,
    `0.0.0.0:${PORT}`,
    `::1:${PORT}`,
    `[::1`,
    `[::1]`,
    `[::]:${PORT}`,
    `[0:0:0:0:0:0:0:1]:${PORT}`,
    `[::ffff:127.0.0.1]:${PORT}`,
    `example.org:${PORT}`,
    `localhost.example.org:${PORT}`,
    `user@localhost:${PORT}`,
    `localhost:${PORT}/`,
    `localhost:${PORT}, example.org`,
  ])('may not be %j', (host) => {
    expect(verdict(() => enter({ host }))).toBe('FORBIDDEN_ORIGIN Host');
    expect(verdict(() => checkHost(host, PORT))).toBe('FORBIDDEN_ORIGIN Host');
  });
});

describe('the Origin of a request', () => {
  it.each([
    undefined,
    `http://127.0.0.1:${PORT}`,
    `http://localhost:${PORT}`,
    `HTTP://LOCALHOST:${PORT}`,
    `http://[::1]:${PORT}`,
  ])('may be %s', (origin) => {
    expect(verdict(() => enter({ origin }))).toBe('in');
  });

  it.each([
    '',
    'null',
    'localhost',
    `https://localhost:${PORT}`,
    `http://localhost`,
    `http://localhost:${PORT + 1}`,
    `http://localhost.:${PORT}`,
    `http://example.org:${PORT}`,
    `http://localhost.example.org:${PORT}`,
    `http://localhost@example.org:${PORT}`,
    `file://localhost:${PORT}`,
    'chrome-extension://abcdef',
  ])('may not be %j', (origin) => {
    expect(verdict(() => enter({ origin }))).toBe('FORBIDDEN_ORIGIN Origin');
  });
});

describe('the token of a request', () => {
  it('says who it is, however the scheme is written', () => {
    expect(enter({})).toEqual({ scope: 'client', workerId: null });
    expect(enter({ authorization: `bearer ${TOKEN}` })).toEqual({ scope: 'client', workerId: null });
  });

  it.each([
    undefined,
    '',
    'Bearer',
    'Bearer ',
    TOKEN,
    `Basic ${TOKEN}`,
    `Bearer ${TOKEN} more`,
    `Bearer ${TOKEN}x`,
    `Bearer  ${TOKEN}`,
    `xBearer ${TOKEN}`,
    `Bearer ${createTokens(newSecret(), '3f2a91bc').issue({ scope: 'client', workerId: null })}`,
  ])('may not be %j', (authorization) => {
    expect(verdict(() => enter({ authorization }))).toBe('UNAUTHENTICATED');
  });

  it('is not even looked at when the request comes from elsewhere', () => {
    expect(verdict(() => enter({ host: 'example.org', authorization: undefined }))).toBe(
      'FORBIDDEN_ORIGIN Host',
    );
  });
});
