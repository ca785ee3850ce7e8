import { describe, expect, it } from 'vitest';
import { readAgentdOptions, type AgentdOptions } from '../../../src/doors/cli/agentd-options.js';
import { accessOf, addressOf, isLoopback } from '../../../src/main/daemon-access.js';
import { createBearerCheck } from '../../../src/platform/tokens.js';

const read = (args: readonly string[], env: Record<string, string> = {}) =>
  readAgentdOptions(args, env, '/here') as AgentdOptions;

describe('agentd', () => {
  it('[1] [6] listens on 127.0.0.1:8765 with its own database and four places by default', () => {
    expect(read([])).toMatchObject({
      ...{ host: '127.0.0.1', port: 8765, database: '.data/agent-orchestrator.db', concurrency: 4 },
      ...{ tokens: [], provider: null, folder: '/here', runTimeoutMs: 3_600_000, graceMs: 30_000 },
    });
  });

  it('[4] accepts every token that it was given, by whatever way', () => {
    const { tokens } = read(['--auth-token', 'one', '--auth-token=two'], {
      ...{ AGENTD_AUTH_TOKEN: 'three', AGENTD_AUTH_TOKENS: 'four, five,,one' },
    });
    expect(tokens).toEqual(['one', 'two', 'three', 'four', 'five']);
    const isToken = createBearerCheck(tokens);
    expect(tokens.filter((token) => !isToken(token))).toEqual([]);
    expect(['', 'on', 'one ', 'six', 'one,two'].filter(isToken)).toEqual([]);
  });

  it('ends silent runs only where it was told to', () => {
    expect(read([]).idleTimeoutMs).toBeNull();
    expect(read(['--idle-timeout', '90'], { AGENTD_IDLE_TIMEOUT: '5' }).idleTimeoutMs).toBe(90_000);
    expect(read([], { AGENTD_IDLE_TIMEOUT: '5' }).idleTimeoutMs).toBe(5_000);
  });

  it('takes flags before variables, and settings of agents whole', () => {
    const options = read(['--port=0', '--agent-option', 'a.b=c=d', '--agent-option', 'a.e='], {
      ...{ AGENTD_PORT: '9', AGENTD_HOST: '::1', AGENTD_MAX_CONCURRENCY: '' },
    });
    expect(options).toMatchObject({ port: 0, host: '::1', concurrency: 4 });
    expect(options.agentOptions).toEqual({ a: { b: 'c=d', e: '' } });
  });

  it('takes the flags of agents into their settings, each in one line', () => {
    const flags = [
      { agent: 'a', flag: 'a-mode', option: 'mode', variable: 'A_MODE', many: false, summary: '' },
      { agent: 'a', flag: 'a-arg', option: 'args', variable: null, many: true, summary: '' },
    ];
    const readWith = (args: readonly string[], env = {}) =>
      (readAgentdOptions(args, env, '/here', flags) as AgentdOptions).agentOptions;
    expect(readWith([], { A_MODE: 'x' })).toEqual({ a: { mode: 'x' } });
    expect(readWith(['--a-mode=y', '--a-arg', '1', '--a-arg=--two'], { A_MODE: 'x' })).toEqual({
      a: { mode: 'y', args: '1\n--two' },
    });
    expect(readWith(['--a-mode=y', '--agent-option', 'a.mode=z'])).toEqual({ a: { mode: 'z' } });
    expect(() => readWith(['--a-arg=1\n2'])).toThrow(/--a-arg takes one line/);
    expect(() => read(['--a-mode=y'])).toThrow(/a-mode/);
  });

  it.each([
    [['--port', 'x']],
    [['--max-concurrency', '0']],
    [['--agent-option', 'a']],
    [['--auth-token', 'a b']],
    [['--nonsense']],
    [['start']],
  ])('refuses %j', (args) => {
    expect(() => read(args)).toThrow(expect.objectContaining({ code: 'USAGE' }));
  });
});

describe('an address', () => {
  it('is loopback or not, by what it is and not by how it begins', () => {
    expect(['127.0.0.1', '127.9.9.9', 'localhost', '::1'].filter((host) => !isLoopback(host))).toEqual([]);
    expect(
      ['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.evil.example', 'localhost.evil.example'].filter(isLoopback),
    ).toEqual([]);
    expect([addressOf('0.0.0.0', 1), addressOf('::1', 1)]).toEqual(['http://127.0.0.1:1', 'http://[::1]:1']);
  });

  it('[5] that others reach is never served without a token', async () => {
    await expect(
      accessOf(read(['--host', '0.0.0.0', '--insecure-no-auth']), '/nowhere'),
    ).rejects.toMatchObject({ code: 'TOKEN_REQUIRED' });
  });
});
