import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTokens, newSecret, type TokenIdentity } from '../../../src/platform/tokens.js';

const SECRET = newSecret();
const tokens = createTokens(SECRET, '3f2a91bc');
const WORKER: TokenIdentity = { scope: 'worker', workerId: 'w03' };
const IDENTITIES: TokenIdentity[] = [
  { scope: 'lead', workerId: 'lead' },
  WORKER,
  { scope: 'worker', workerId: 'w103' },
  { scope: 'client', workerId: null },
  { scope: 'admin', workerId: null },
];

describe('a token', () => {
  it.each(IDENTITIES)('names its holder: %j', (identity) => {
    expect(tokens.identify(tokens.issue(identity))).toEqual(identity);
  });

  it('holds after a restart: it depends on nothing but the secret and the session', () => {
    expect(createTokens(SECRET, '3f2a91bc').issue(WORKER)).toBe(tokens.issue(WORKER));
  });

  it('is another one for every holder', () => {
    expect(new Set(IDENTITIES.map((identity) => tokens.issue(identity))).size).toBe(IDENTITIES.length);
  });

  it('of another session or of another secret is nobody’s', () => {
    expect(createTokens(SECRET, '00000000').identify(tokens.issue(WORKER))).toBeNull();
    expect(createTokens(newSecret(), '3f2a91bc').identify(tokens.issue(WORKER))).toBeNull();
  });

  it('does not become another holder’s by exchanging the name', () => {
    const proof = tokens.issue(WORKER).split('.').at(-1) ?? '';
    for (const name of ['lead', 'client', 'admin', 'worker.w04', 'worker.lead'])
      expect(tokens.identify(`ao.${name}.${proof}`)).toBeNull();
  });

  it.each([
    '',
    'ao',
    'ao.lead.',
    'ao.lead.short',
    `ao.worker.w3.${'A'.repeat(43)}`,
    `ao.worker.${'A'.repeat(43)}`,
    `ao.root.${'A'.repeat(43)}`,
    `AO.lead.${'A'.repeat(43)}`,
    `ao.lead.${'ä'.repeat(43)}`,
    `ao.lead.${'A'.repeat(43)}\n`,
    ` ${tokens.issue(WORKER)}`,
    `${tokens.issue(WORKER)}=`,
  ])('is never %j', (text) => {
    expect(tokens.identify(text)).toBeNull();
  });

  it('is void with any one character changed', () => {
    const token = tokens.issue(WORKER);
    fc.assert(
      fc.property(fc.nat(token.length - 1), fc.constantFrom(...'Aa0_-.w'), (at, character) => {
        const other = `${token.slice(0, at)}${character}${token.slice(at + 1)}`;
        expect(tokens.identify(other)).toEqual(other === token ? WORKER : null);
      }),
    );
  });

  it('is void whatever else is given', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(tokens.identify(text)).toBeNull();
      }),
    );
  });
});

it('a secret has 256 bits, and is never the same twice', () => {
  expect(Buffer.from(newSecret(), 'base64url')).toHaveLength(32);
  expect(newSecret()).not.toBe(newSecret());
});
