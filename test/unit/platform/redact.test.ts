import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/platform/logger.js';
import { createRedactor, withTexts, type Redactor } from '../../../src/platform/redact.js';

let redactor: Redactor;
beforeEach(() => {
  redactor = createRedactor();
});

/** Put together here, so that no file of ours holds what looks like a secret. */
const PLANTED: Readonly<Record<string, string>> = {
  'an API key': `sk-${'a1B2'.repeat(6)}`,
  'an API key with a project': `sk-proj-${'a1_B-'.repeat(6)}`,
  'a restricted key': `rk-${'x'.repeat(16)}`,
  'a GitHub token': `ghp_${'a'.repeat(36)}`,
  'a GitHub token of an app': `ghs_${'b'.repeat(20)}`,
  'a fine-grained GitHub token': `github_pat_${'c_1'.repeat(10)}`,
  'the token of a run of ours': `ao.run.01a223ab-01a6-7043-b415-111ec428c5c9.${'a_-'.repeat(14)}b`,
  'a Slack token': `xoxb-${'1'.repeat(12)}-abc`,
  'an AWS key': `AKIA${'A1'.repeat(8)}`,
  'a Google key': `AIza${'d-_'.repeat(11)}`,
  'a JWT': `eyJ${'a'.repeat(20)}.${'b'.repeat(20)}.${'c'.repeat(20)}`,
  'a private key': `-----BEGIN RSA PRIVATE KEY-----\n${'MIIE\n'.repeat(3)}-----END RSA PRIVATE KEY-----`,
  'a private key as JSON writes it': `-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----`,
};

describe('the redactor', () => {
  it.each(Object.entries(PLANTED))('takes out %s, and nothing around it', (_what, secret) => {
    expect(redactor.redact(`before ${secret} after`)).toBe('before [redacted] after');
    expect(redactor.redact(`{"key":"${secret}"}`)).toBe('{"key":"[redacted]"}');
  });

  it('takes out every one of several', () => {
    const secrets = Object.values(PLANTED).slice(0, 6);
    expect(redactor.redact(secrets.join(' '))).toBe(secrets.map(() => '[redacted]').join(' '));
  });

  it.each([
    ['Authorization: Bearer abcdefghijklmnop1234', 'Authorization: [redacted]'],
    ['authorization: basic dXNlcjpwYXNzd29yZA==', 'authorization: [redacted]'],
    ['https://user:hunter2@example.org/x', 'https://user:[redacted]@example.org/x'],
    [
      'git clone https://x:y@a.org and https://u:v@b.org',
      'git clone https://x:[redacted]@a.org and https://u:[redacted]@b.org',
    ],
  ])('in %j leaves what it belongs to', (text, redacted) => {
    expect(redactor.redact(text)).toBe(redacted);
  });

  it.each([
    'https://example.org:8080/path@2',
    'task-sk-short',
    'bearer of bad news',
    'commit 0123456789abcdef0123456789abcdef01234567',
    'a@b.org wrote //comment: see x',
    'AKIA is the beginning of some keys',
  ])('leaves %j as it is', (text) => {
    expect(redactor.redact(text)).toBe(text);
  });

  it('takes out what this process knows to be secret, wherever it stands', () => {
    redactor.add('our own secret!');
    redactor.add('$& (odd) characters');
    expect(redactor.redact('xour own secret!x $& (odd) characters')).toBe('x[redacted]x [redacted]');
  });

  it('does not take a short word for a secret', () => {
    redactor.add('a');
    redactor.add('');
    redactor.add('seven77');
    expect(redactor.redact('a seven77 cat')).toBe('a seven77 cat');
  });

  it('takes a long text in its stride', () => {
    const text = `${'-----BEGIN PRIVATE KEY '.repeat(2_000)}${'//a:'.repeat(2_000)}${'eyJ'.repeat(5_000)}`;
    expect(redactor.redact(text)).toBe(text);
  });
});

it('what is nested without end is left out from some depth on, and nothing fails by it', () => {
  let deep: unknown = 'secret';
  for (let level = 0; level < 100_000; level++) deep = level % 2 === 0 ? [deep] : { a: deep };
  const text = JSON.stringify(
    withTexts({ a: { deep }, beside: 'secret' }, (one) => one.replace('secret', 'changed')),
  );
  expect(text).toContain('(nested too deep, left out)');
  expect(text).toContain('"beside":"changed"');
});

describe('the log', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ao-log-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is private, and holds no secret in any place of a line', () => {
    redactor.add('our own secret!');
    const destination = join(folder, 'x.log');
    const logger = createLogger({ level: 'info', destination, redactor });
    const secrets = [...Object.values(PLANTED), 'our own secret!'];
    for (const secret of secrets) {
      logger.info({ nested: { value: [secret] }, err: new Error(`failed with ${secret}`) }, `said ${secret}`);
      logger.child({ [secret]: secret }).warn('x');
    }
    logger.debug('not at this level');
    const text = readFileSync(destination, 'utf8');
    expect(statSync(destination).mode & 0o777).toBe(0o600);
    expect(
      secrets.filter((secret) => text.includes(secret) || text.includes(JSON.stringify(secret).slice(1, -1))),
    ).toEqual([]);
    const lines = text.trimEnd().split('\n');
    expect(lines).toHaveLength(secrets.length * 2);
    expect(lines.map((line) => typeof JSON.parse(line))).toEqual(lines.map(() => 'object'));
  });
});
