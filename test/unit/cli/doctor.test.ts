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

interface Options {
  readonly json?: boolean;
  readonly fix?: boolean;
  readonly yes?: boolean;
  readonly tty?: boolean;
  readonly answers?: readonly string[];
  /** Why a fix fails. */
  readonly problem?: string;
}

async function run(diagnosis: Diagnosis, options: Options = {}) {
  const { json = false, fix = false, yes = false, tty = false, answers = [], problem = null } = options;
  const terminal = { ...fakeTerminal({ tty, answers }), columns: 80 };
  const mended: string[] = [];
  const host = fakeHost(terminal, {
    env: { HOME: '/home/nobody', NO_COLOR: '1' },
    diagnose: () => Promise.resolve(mended.length === 0 || problem !== null ? diagnosis : WELL),
    mend: (mendable) =>
      Promise.resolve(
        mendable.map(({ row, mend }) => {
          mended.push(mend.kind);
          return { name: row.name, found: row.found, fix: mend.does, problem };
        }),
      ),
  });
  const code = await doctor(host, { json, fix, yes });
  return { code, out: terminal.said.out, err: terminal.said.err, mended };
}

const SOCKET = '/tmp/tmux-0/agentorchestr-0a1b2c3d';
const WELL: Diagnosis = {
  healthy: true,
  areas: [{ area: 'sessions', rows: [ok({ name: 'tmux servers' }, 'none was left behind')] }],
};
const LEFT: Diagnosis = {
  healthy: true,
  areas: [
    {
      area: 'sessions',
      rows: [
        warning({ name: 'sessions' }, '3f2a91bc lost its supervisor', {
          command: 'agentorchestr --resume 3f2a91bc',
        }),
        warning({ name: 'tmux servers', path: SOCKET }, `${SOCKET} is left of a server that is gone`, {
          command: `rm ${SOCKET}`,
          mend: { kind: 'dead socket', socket: SOCKET, does: 'remove the socket' },
        }),
      ],
    },
  ],
};

describe('--doctor --fix', () => {
  it('shows what it would do, does it when the person agrees, and looks again', async () => {
    const { code, out, err, mended } = await run(LEFT, { fix: true, tty: true, answers: ['y'] });
    expect(err).toContain(`${SOCKET} is left of a server that is gone\n  → remove the socket\n`);
    expect({ code, mended }).toEqual({ code: 0, mended: ['dead socket'] });
    expect(out).toBe(`fixed
  done     ${SOCKET} is left of a server that is gone →
           remove the socket

sessions
  ok       tmux servers     none was left behind

ready to work: all is well
Logins were not checked. Only what is above under "fixed" was changed.
`);
  });

  it('does nothing when the person does not agree, or nobody can be asked', async () => {
    const refused = await run(LEFT, { fix: true, tty: true, answers: [''] });
    expect(refused).toMatchObject({ code: 1, out: '', mended: [] });
    expect(refused.err).toMatch(/nothing was changed\n$/);
    await expect(run(LEFT, { fix: true })).rejects.toMatchObject({ code: 'USAGE' });
    await expect(run(LEFT, { fix: true, json: true, tty: true })).rejects.toMatchObject({ code: 'USAGE' });
  });

  it('says each in JSON, and fails when one could not be done', async () => {
    const { code, out } = await run(LEFT, { fix: true, yes: true, json: true, problem: 'it is busy' });
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      healthy: true,
      fixed: [
        {
          name: 'tmux servers',
          found: `${SOCKET} is left of a server that is gone`,
          fix: 'remove the socket',
          problem: 'it is busy',
        },
      ],
      checks: [{ name: 'sessions' }, { name: 'tmux servers', state: 'warning', fix: `rm ${SOCKET}` }],
    });
  });

  it('asks nothing where there is nothing to do', async () => {
    const { code, out, mended } = await run(WELL, { fix: true, json: true });
    expect({ code, mended }).toEqual({ code: 0, mended: [] });
    expect(JSON.parse(out)).toMatchObject({ fixed: [] });
  });
});

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
