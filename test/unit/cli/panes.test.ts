import { describe, expect, it } from 'vitest';
import { OrchestratorError } from '../../../src/core/errors/error.js';
import type { CliHost } from '../../../src/doors/cli/host.js';
import { runProgram } from '../../../src/doors/cli/program.js';
import type { SessionReport } from '../../../src/services/supervise/session-report.js';
import { fakeHost, fakeTerminal } from './fake-host.js';

/** One command line on a terminal of 100x30, on a session that runs; what was asked of the session, in order. */
async function run(args: readonly string[], options: { tty?: boolean; reflow?: CliHost['call'] } = {}) {
  const terminal = fakeTerminal({ tty: options.tty ?? true });
  const asked: unknown[] = [];
  const host = fakeHost(terminal, {
    findSession: (prefix) => Promise.resolve(prefix),
    attachCommand: () => Promise.resolve('agentorchestr attach 3f2a91bc'),
    attach: (sessionId) => Promise.resolve((asked.push(['attach', sessionId]), { exitCode: 0 })),
    report: () => Promise.resolve({ session_id: '3f2a91bc', state: 'active' } as SessionReport),
    call: (sessionId, operation, input) => {
      asked.push([operation.name, sessionId, input]);
      return options.reflow?.(sessionId, operation, input) ?? Promise.resolve({ windows: 7 });
    },
  });
  const code = await runProgram(host, args);
  return { code, asked, said: terminal.said };
}

describe('attach', () => {
  it('changes nothing of the panes by itself', async () => {
    const { asked } = await run(['attach', '3f2a91bc']);
    expect(asked).toEqual([['attach', '3f2a91bc']]);
  });

  it('--fit first arranges them for this terminal', async () => {
    const { asked, code } = await run(['attach', '3f2a91bc', '--fit']);
    expect(asked).toEqual([
      ['reflow', '3f2a91bc', { columns: 100, rows: 30 }],
      ['attach', '3f2a91bc'],
    ]);
    expect(code).toBe(20);
  });

  it('--fit shows the panes all the same when nobody can arrange them any more, and says so', async () => {
    const reflow = () =>
      Promise.reject(new OrchestratorError('SUPERVISOR_NOT_RUNNING', { session: '3f2a91bc' }));
    const { asked, said } = await run(['attach', '3f2a91bc', '--fit'], { reflow });
    expect(asked).toHaveLength(2);
    expect(said.err).toMatch(/^warning: the panes keep their size: .*3f2a91bc/);
  });
});

describe('reflow', () => {
  it('takes the size of its terminal where none is given', async () => {
    const { asked } = await run(['reflow', '--session', '3f2a91bc', '--rows', '45']);
    expect(asked).toEqual([['reflow', '3f2a91bc', { columns: 100, rows: 45 }]]);
  });

  it('takes no size that is nobody’s when there is no terminal', async () => {
    const { asked } = await run(['reflow', '--session', '3f2a91bc'], { tty: false });
    expect(asked).toEqual([['reflow', '3f2a91bc', {}]]);
  });

  it('says in its help where the size comes from', async () => {
    const { said } = await run(['reflow', '--help']);
    expect(said.out.match(/\(default: this terminal's\)/g)).toHaveLength(2);
  });
});
