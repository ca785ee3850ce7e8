import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import type { StoredEvent } from '../../../src/core/events/index.js';
import type { CliHost, SessionListing, Terminal } from '../../../src/doors/cli/host.js';
import { liveFrame } from '../../../src/doors/cli/output/live-frame.js';
import { createPaint } from '../../../src/doors/cli/output/paint.js';
import { runProgram } from '../../../src/doors/cli/program.js';
import type { SessionReport, WorkerReport } from '../../../src/services/supervise/session-report.js';
import { fakeHost, fakeTerminal, type FakeTerminal } from './fake-host.js';

const ID = '3f2a91bc';
const worker = (id: string, state: string, more: Partial<WorkerReport> = {}): WorkerReport => ({
  ...{ worker_id: id, perspective: 'implementer', agent: 'one', state, summary: '', task: `task of ${id}` },
  ...{ branch: null, integrated: false, waiting: null },
  ...more,
});
const report = (more: Partial<SessionReport> = {}): SessionReport => ({
  ...{ session_id: ID, state: 'active', goal: 'a goal', summary: '', reason: null, project: '/p' },
  ...{ base: 'base main@0000000', branch: null, commit: null, workers: [], attention: [], verify: null },
  ...{ last_progress: null, merge_command: null, applied: null, created_at: '', ended_at: null },
  ...{ resumable: false, left_out: null, cleaned_at: null, disk: null, mode: 'goal' },
  ...more,
});
const disk = {
  bytes: 3_000,
  complete: true,
  worktrees: 2_000,
  salvage: 0,
  repository: 0,
  session: 1_000,
};

const listing = (id: string, more: Partial<SessionListing> = {}): SessionListing => ({
  ...{ session_id: id, state: 'active', resumable: false, cleaned_at: null, salvaged: false },
  ...{ workers_total: 2, workers_done: 1, created_at: '', updated_at: '', project: '/p', goal: `goal ${id}` },
  ...more,
});

/** A session whose states come when the test says so. */
function session(first: SessionReport) {
  let now = first;
  let over = false;
  let asked = 0;
  let wake = () => undefined as void;
  const heard: StoredEvent[] = [];
  const event = { type: 'worker.idle', session_id: ID, seq: 1 } as StoredEvent;
  const host: Partial<CliHost> = {
    findSession: () => Promise.resolve(ID),
    attachCommand: () => Promise.resolve(`agentorchestr attach ${ID}`),
    settled: () => Promise.resolve(true),
    report: (_, options) => {
      if (options?.diskUse === true) return Promise.resolve({ ...now, disk });
      asked += 1;
      return Promise.resolve(now);
    },
    async *events(_, { signal }) {
      signal.addEventListener('abort', () => wake());
      for (;;) {
        const next = heard.shift();
        if (next !== undefined) yield next;
        else if (over || signal.aborted) return;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
  return {
    host,
    asked: () => asked,
    async becomes(next: SessionReport) {
      now = next;
      over = next.state !== 'active';
      heard.push(event);
      wake();
      await settle();
    },
  };
}

/** It has been loaded and has said something, and everything that is ready has run. */
async function shown({ said }: FakeTerminal): Promise<void> {
  await vi.waitFor(() => expect(said.out).not.toBe(''), { timeout: 8_000 });
  await settle();
}

/** Everything that is ready has run. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

function terminalOf(size: { columns: number; rows: number }) {
  const keys: ((key: string) => void)[] = [];
  const sizes: (() => void)[] = [];
  const terminal = {
    ...fakeTerminal({ tty: true }),
    ...size,
    onKey: (listener: (key: string) => void) => {
      keys.push(listener);
      return () => void keys.splice(0);
    },
    onResize: (listener: () => void) => {
      sizes.push(listener);
      return () => void sizes.splice(0);
    },
  };
  return {
    terminal,
    press: (key: string) => keys.forEach((listener) => listener(key)),
    resize: (to: { columns: number; rows: number }) => {
      Object.assign(terminal, to);
      sizes.forEach((listener) => listener());
    },
    listeners: () => keys.length + sizes.length,
  };
}

const watch = (host: Partial<CliHost>, terminal: Terminal, more: string[] = [], env = {}) =>
  runProgram(fakeHost(terminal, { ...host, env: { HOME: '/h', ...env } }), [
    'status',
    ID,
    '--watch',
    ...more,
  ]);

describe('status', () => {
  it('shows the table before the disk use is known, that of a session at work too', async () => {
    const terminal = fakeTerminal();
    const { host } = session(report({ workers: [worker('w01', 'running')] }));
    const later: { measured?: (report: SessionReport) => void } = {};
    const slow = new Promise<SessionReport>((resolve) => (later.measured = resolve));
    const { report: ask } = host as CliHost;
    const code = runProgram(
      fakeHost(terminal, {
        ...host,
        report: (id, options) => (options?.diskUse === true ? slow : ask(id, options)),
      }),
      ['status', ID],
    );
    await shown(terminal);
    expect(terminal.said.out).toMatch(/w01 .*running.*\npanes {4}.*\non disk {2}$/s);
    later.measured?.(report({ disk }));
    expect(await code).toBe(0);
    expect(terminal.said.out).toMatch(/\non disk {2}3\.0 kB \(worktrees 2\.0 kB, session 1\.0 kB\)\n$/);
  });

  it('of several that run in the project shows the newest and names the others, also with --json', async () => {
    const { host } = session(report());
    const sessions = [
      listing(ID),
      listing('aaaa0001'),
      listing('aaaa0002', { state: 'done' }),
      listing('aaaa0003', { project: '/other' }),
    ];
    for (const flags of [[], ['--json']]) {
      const terminal = fakeTerminal();
      await runProgram(fakeHost(terminal, { ...host, listSessions: () => Promise.resolve(sessions) }), [
        'status',
        ...flags,
      ]);
      expect(terminal.said.err).toBe(
        `session ${ID} (the newest of all)\nalso running in this project (agentorchestr status ID):\n  aaaa0001  1/2 done  goal aaaa0001\n`,
      );
      expect(terminal.said.out).toContain(ID);
      expect(terminal.said.out).not.toContain('aaaa');
    }
  });
});

describe('status --watch', () => {
  it('with --json prints one object per change, none without one, and ends as the session did', async () => {
    const terminal = fakeTerminal();
    const told = session(report());
    const code = watch(told.host, terminal, ['--json']);
    await shown(terminal);
    const asked = told.asked();
    await settle();
    expect(told.asked()).toBe(asked);
    await told.becomes(report({ workers: [worker('w01', 'running')] }));
    await told.becomes(report({ workers: [worker('w01', 'running')] }));
    await told.becomes(report({ state: 'failed', reason: 'why', workers: [worker('w01', 'killed')] }));
    expect(await code).toBe(2);
    const lines = terminal.said.out.trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as SessionReport).workers[0]?.state)).toEqual([
      undefined,
      'running',
      'killed',
    ]);
  });

  it('without a terminal appends a block per change, then what it came to', async () => {
    const terminal = fakeTerminal();
    const told = session(report());
    const code = watch(told.host, terminal);
    await shown(terminal);
    await told.becomes(report({ workers: [worker('w01', 'running')] }));
    await told.becomes(report({ state: 'done', summary: 'all of it', workers: [worker('w01', 'done')] }));
    expect(await code).toBe(0);
    const { out } = terminal.said;
    expect(out).not.toContain('\u001B');
    expect(out.match(/^session .*$/gm)).toEqual([
      expect.stringMatching(/^session 3f2a91bc {2}active {2}\d\d:\d\d:\d\d$/),
      expect.stringMatching(/^session 3f2a91bc {2}active {2}0\/1 done {2}\d/),
      expect.stringMatching(/^session 3f2a91bc {2}done {2}1\/1 done {2}\d/),
      'session 3f2a91bc  done',
    ]);
    expect(out).toContain('\n\nsession 3f2a91bc  active  0/1 done');
  });

  it('on a terminal draws in one place, at each size, and gives the screen back at the end', async () => {
    const at = terminalOf({ columns: 100, rows: 30 });
    const told = session(report({ goal: 'long '.repeat(40), workers: [worker('w01', 'running')] }));
    const code = watch(told.host, at.terminal);
    await shown(at.terminal);
    const { said } = at.terminal;
    expect(said.out.startsWith('\u001B[?1049h')).toBe(true);
    expect(said.out).toContain('on disk');
    said.out = '';
    at.resize({ columns: 40, rows: 8 });
    const drawn = stripVTControlCharacters(said.out).trimEnd().split('\r\n');
    expect(said.out.startsWith('\u001B[H')).toBe(true);
    expect(drawn.length).toBeLessThan(8);
    expect(drawn.map((line) => line.length).every((width) => width <= 40)).toBe(true);
    expect(drawn).toContain('  w01  running  task of w01');
    await told.becomes(report({ state: 'done', summary: 'all of it' }));
    expect(await code).toBe(0);
    expect(said.out).toMatch(/\u001B\[\?1049l\n.*session 3f2a91bc.*done.*all of it/s);
    expect(at.listeners()).toBe(0);
  });

  it.each(['q', '\u0003'])('%j leaves; the session goes on, which the exit code says', async (key) => {
    const at = terminalOf({ columns: 80, rows: 24 });
    const told = session(report());
    const code = watch(told.host, at.terminal);
    await shown(at.terminal);
    at.press('x');
    at.press(key);
    expect(await code).toBe(20);
    expect(at.terminal.said.out.endsWith('\u001B[?1049l')).toBe(true);
    expect(at.terminal.said.err).toBe(`session ${ID} goes on; agentorchestr attach ${ID}\n`);
  });

  it('has colours only where NO_COLOR does not forbid them; TERM=dumb gets blocks', async () => {
    const drawn = async (env: Record<string, string>) => {
      const at = terminalOf({ columns: 80, rows: 24 });
      const code = watch(session(report({ state: 'active' })).host, at.terminal, [], env);
      await shown(at.terminal);
      at.press('q');
      if (env['TERM'] !== 'dumb') await code;
      return at.terminal.said.out;
    };
    expect(await drawn({})).toContain('\u001B[1m');
    expect(await drawn({ NO_COLOR: '1' })).not.toMatch(/\u001B\[\d+m/);
    expect(await drawn({ NO_COLOR: '1' })).toContain('\u001B[H');
    expect(await drawn({ TERM: 'dumb' })).not.toContain('\u001B');
  });

  it('of a session that is over says what it came to, at once', async () => {
    const at = terminalOf({ columns: 80, rows: 24 });
    const { host } = session(report({ state: 'paused', reason: 'by the person' }));
    expect(await watch(host, at.terminal)).toBe(2);
    expect(at.terminal.said.out).not.toContain('[?1049h');
    expect(at.terminal.said.out).toContain('by the person');
  });
});

describe('a frame', () => {
  const paint = createPaint(fakeTerminal(), {}, 'stdout');
  const many = Array.from({ length: 12 }, (_, index) =>
    worker(`w${10 + index}`, index < 9 ? 'done' : 'waiting', { waiting: { kind: 'question', text: 'q?' } }),
  );
  it.each([
    [80, 12],
    [40, 10],
    [20, 6],
  ])('fits %i columns and %i rows, and leaves out first who is done', (columns, rows) => {
    const options = { paint, terminal: { columns, rows }, footer: ['q leaves; the session goes on'] };
    const lines = liveFrame(report({ workers: many }), '2030-01-01T11:56:00Z', options);
    expect(lines.length).toBeLessThanOrEqual(rows);
    expect(lines.every((line) => line.length <= columns)).toBe(true);
    expect(lines.join('\n')).toMatch(/w19 .*\n(.*\n)*.*… \d+ more/);
  });
});
