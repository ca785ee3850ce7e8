import { describe, expect, it } from 'vitest';
import { doctor } from '../../../src/doors/cli/commands/doctor.js';
import type { Diagnosis } from '../../../src/services/doctor/diagnose.js';
import { failed, ok, unknown, warning } from '../../../src/services/doctor/row.js';
import { fakeHost, fakeTerminal } from './fake-host.js';

const SECRET = '/home/nobody/.local/share/agentorchestr/sessions/0a1b2c3d/secret';
const SICK: Diagnosis = {
  healthy: false,
  areas: [
    {
      area: 'programs',
      rows: [
        ok({ name: 'Node.js', version: '20.1.0' }, '20.1.0 at /usr/bin/node'),
        failed({ name: 'tmux' }, 'not found\u001b[31m on PATH', {
          advice: 'Debian and Ubuntu: sudo apt-get install tmux · macOS: brew install tmux, or ask',
        }),
      ],
    },
    {
      area: 'storage',
      rows: [
        warning({ name: 'permissions', path: SECRET }, `this file is open to others: ${SECRET} (644)`, {
          command: `chmod 600 ${SECRET} '/home/nobody/a b'`,
        }),
        unknown({ name: 'database' }, 'no answer within 9 s', { advice: 'look again' }),
      ],
    },
  ],
};

async function run(diagnosis: Diagnosis, options: { json?: boolean; tty?: boolean } = {}) {
  const terminal = { ...fakeTerminal({ tty: options.tty ?? false }), columns: 80 };
  const host = fakeHost(terminal, {
    env: { HOME: '/home/nobody', NO_COLOR: '1' },
    diagnose: () => Promise.resolve(diagnosis),
  });
  const code = await doctor(host, { json: options.json ?? false });
  return { code, out: terminal.said.out };
}

describe('the table of --doctor', () => {
  it('fits 80 columns, but for commands, which are never broken', async () => {
    const { code, out } = await run(SICK, { tty: true });
    expect(code).toBe(1);
    expect(out).toBe(`programs
  ok       Node.js          20.1.0 at /usr/bin/node
  failed   tmux             not found on PATH
           → Debian and Ubuntu: sudo apt-get install tmux · macOS: brew install
             tmux, or ask

storage
  warning  permissions      this file is open to others:
                            ~/.local/share/agentorchestr/sessions/0a1b2c3d/
                            secret (644)
           → chmod 600 ~/.local/share/agentorchestr/sessions/0a1b2c3d/secret '/home/nobody/a b'
  unknown  database         no answer within 9 s
           → look again

not ready to work: 1 failed, 1 unknown, 1 warning
Logins were not checked. Nothing was changed.
`);
  });

  it('has one line per row where it is piped', async () => {
    const { out } = await run(SICK);
    expect(out).toContain(
      'this file is open to others: ~/.local/share/agentorchestr/sessions/0a1b2c3d/secret (644)\n',
    );
  });

  it('[25] is one JSON document with whole paths and the fix as a text', async () => {
    const { code, out } = await run({ ...SICK, healthy: true }, { json: true });
    expect(code).toBe(0);
    const document = JSON.parse(out) as { checks: unknown[] };
    expect(document).toMatchObject({ version: '1.2.3', healthy: true });
    expect(document.checks[2]).toEqual({
      area: 'storage',
      name: 'permissions',
      state: 'warning',
      found: `this file is open to others: ${SECRET} (644)`,
      version: null,
      path: SECRET,
      fix: `chmod 600 ${SECRET} '/home/nobody/a b'`,
    });
    expect(document.checks[0]).toMatchObject({ state: 'ok', fix: null, version: '20.1.0' });
  });
});
