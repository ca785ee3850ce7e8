import { expect, it } from 'vitest';
import type { CliHost } from '../../../src/doors/cli/host.js';
import { runProgram } from '../../../src/doors/cli/program.js';
import type { SessionReport } from '../../../src/services/supervise/session-report.js';
import { fakeHost, fakeTerminal } from './fake-host.js';

const ID = '3f2a3f2a';

/** A session that nobody runs; `whileComingUp` happens before its supervisor is ready. */
function left(whileComingUp: (interrupts: { pressed: AbortController; heeded: () => boolean }) => void) {
  const pressed = new AbortController();
  let heeded = false;
  const terminal = Object.defineProperty(fakeTerminal(), 'interrupted', {
    // Until somebody asks for it, a Ctrl-C ends the process.
    get: () => {
      heeded = true;
      return pressed.signal;
    },
  });
  const calls: string[] = [];
  let state = 'paused';
  const host: Partial<CliHost> = {
    findSession: () => Promise.resolve(ID),
    attachCommand: () => Promise.resolve(null),
    settled: () => Promise.resolve(true),
    report: () =>
      Promise.resolve({
        ...{ session_id: ID, state, goal: 'g', summary: '', reason: 'interrupted', base: 'main@1' },
        ...{ workers: [], attention: [], verify: null, branch: null, applied: null, merge_command: null },
        ...{
          last_progress: null,
          resumable: state === 'paused',
          left_out: null,
          cleaned_at: null,
          disk: null,
        },
      } as unknown as SessionReport),
    async takeUpSession() {
      calls.push('taken up');
      whileComingUp({ pressed, heeded: () => heeded });
      state = 'active';
    },
    async call(_, { name }) {
      calls.push(name);
      state = 'paused';
      return {};
    },
    // eslint-disable-next-line require-yield
    async *events() {
      return;
    },
  };
  return {
    terminal,
    calls,
    pressed,
    run: () => runProgram(fakeHost(terminal, host), ['--resume', ID, '--no-attach']),
  };
}

it('a Ctrl-C while a session comes up pauses it as soon as it is there, and says so', async () => {
  const { terminal, calls, run } = left(({ pressed, heeded }) => {
    expect(heeded()).toBe(true);
    pressed.abort();
  });
  expect(await run()).toBe(2);
  expect(calls).toEqual(['taken up', 'pause']);
  expect(terminal.said.err).toContain('pausing the session');
  expect(terminal.said.out).toContain(`go on  agentorchestr --resume ${ID}`);
});

it('a Ctrl-C before that starts nothing', async () => {
  const { calls, pressed, run } = left(() => undefined);
  pressed.abort();
  expect(await run()).toBe(130);
  expect(calls).toEqual([]);
});
