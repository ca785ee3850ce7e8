import { describe, expect, it } from 'vitest';
import { checkProxies } from '../../../src/services/doctor/connections.js';
import type { DoctorDeps } from '../../../src/services/doctor/deps.js';
import { checkLocale, checkShell, checkTerminal } from '../../../src/services/doctor/terminal.js';

const CHECKS = { locale: checkLocale, shell: checkShell, TERM: checkTerminal, proxies: checkProxies };

async function look(name: keyof typeof CHECKS, env: Record<string, string>) {
  const all = { PATH: process.env['PATH'], ...env };
  const [row, ...more] = await CHECKS[name]({ env: all } as unknown as DoctorDeps);
  expect(more).toEqual([]);
  return row;
}

const LOCAL = '127.0.0.1,localhost';

describe('the surroundings', () => {
  it.each([
    ['locale', { LANG: 'C' }, 'export LANG=C.UTF-8'],
    ['locale', {}, 'export LANG=C.UTF-8'],
    ['locale', { LANG: 'C.UTF-8', LC_ALL: 'POSIX' }, 'export LC_ALL=C.UTF-8'],
    ['shell', {}, 'export SHELL=/bin/sh'],
    ['shell', { SHELL: '/etc/passwd' }, 'export SHELL=/bin/sh'],
    ['shell', { SHELL: 'bash' }, 'export SHELL=/bin/sh'],
    ['TERM', {}, 'export TERM=xterm-256color'],
    ['TERM', { TERM: 'dumb' }, 'export TERM=xterm-256color'],
    ['TERM', { TERM: 'no-such-terminal' }, 'export TERM=xterm-256color'],
    ['proxies', { HTTP_PROXY: 'http://proxy:1' }, `export NO_PROXY=${LOCAL} no_proxy=${LOCAL}`],
    [
      'proxies',
      { all_proxy: 'socks://proxy:1', no_proxy: 'example.org, localhost' },
      `export NO_PROXY="$no_proxy",${LOCAL} no_proxy="$no_proxy",${LOCAL}`,
    ],
  ] as const)('warn: %s of %o', async (name, env, command) => {
    expect(await look(name, env)).toMatchObject({ name, state: 'warning', fix: { command } });
  });

  it.each([
    ['locale', { LANG: 'de_DE.utf8' }],
    ['locale', { LANG: 'C', LC_CTYPE: 'en_US.UTF-8' }],
    ['shell', { SHELL: '/bin/sh' }],
    ['TERM', { TERM: 'xterm' }],
    ['TERM', { TERM: 'no-such-terminal', PATH: '/nowhere' }],
    ['proxies', {}],
    ['proxies', { HTTPS_PROXY: 'http://proxy:1' }],
    ['proxies', { http_proxy: 'http://proxy:1', NO_PROXY: 'example.org 127.0.0.1' }],
    ['proxies', { http_proxy: 'http://proxy:1', no_proxy: '*' }],
  ] as const)('are fine: %s of %o', async (name, env) => {
    expect(await look(name, env)).toMatchObject({ name, state: 'ok', fix: null });
  });
});
