import { expect, it } from 'vitest';
import { OrchestratorError } from '../../../src/core/errors/error.js';
import {
  whichRunningSession,
  whichSession,
  whichToGoOn,
} from '../../../src/doors/cli/commands/which-session.js';
import type { CliHost, SessionListing } from '../../../src/doors/cli/host.js';
import { runProgram } from '../../../src/doors/cli/program.js';
import { fakeHost, fakeTerminal, sessionListing } from './fake-host.js';

const HERE = process.cwd();

const listing = (session_id: string, more: Partial<SessionListing> = {}) =>
  sessionListing(session_id, { project: HERE, ...more });

async function choose(
  choice: (host: CliHost, prefix: undefined) => Promise<string>,
  ...sessions: readonly SessionListing[]
) {
  const terminal = fakeTerminal();
  const host = fakeHost(terminal, { listSessions: () => Promise.resolve(sessions) });
  return [await choice(host, undefined), terminal.said.err];
}

it('without a name it is the newest of the project that was not cleaned, then any of the project', async () => {
  const cleaned = listing('aaaa', { cleaned_at: '2030' });
  const elsewhere = listing('cccc', { project: '/other' });
  expect(await choose(whichSession, cleaned, elsewhere, listing('bbbb'))).toEqual([
    'bbbb',
    'session bbbb (the newest of this project)\n',
  ]);
  expect((await choose(whichSession, elsewhere, cleaned))[0]).toBe('aaaa');
  expect((await choose(whichSession, { ...cleaned, project: '/other' }, elsewhere))[0]).toBe('cccc');
});

it('the newest is the one that began last, not the one that changed last', async () => {
  const [old, young] = [
    listing('aaaa', { created_at: '2030-01-01' }),
    listing('bbbb', { created_at: '2030-01-02' }),
  ];
  expect((await choose(whichSession, old, young))[0]).toBe('bbbb');
});

it('where more than one runs, the hint is what this very command takes', async () => {
  const running = { state: 'active' };
  const terminal = fakeTerminal();
  const sessions = [listing('aaaa', running), listing('bbbb', running)];
  for (const [args, hint] of [
    [['pause'], 'say which one: agentorchestr pause aaaa'],
    [['attention'], 'say which one: agentorchestr attention aaaa'],
    [['kill-worker', 'w01'], 'say which one: --session aaaa'],
  ] as const) {
    const host = fakeHost(terminal, { listSessions: () => Promise.resolve(sessions) });
    expect(await runProgram(host, args)).toBe(64);
    expect(terminal.said.err).toContain(hint);
  }
});

it('what changes a session says whose it is, when it is not of this project', async () => {
  const running = { state: 'active', project: '/other' };
  expect(await choose(whichRunningSession, listing('aaaa', running))).toEqual([
    'aaaa',
    'session aaaa (of /other)\n',
  ]);
  const parent = { ...running, project: HERE.slice(0, HERE.lastIndexOf('/')) };
  expect(await choose(whichRunningSession, listing('aaaa', running), listing('bbbb', parent))).toEqual([
    'bbbb',
    'session bbbb\n',
  ]);
});

const paused = { state: 'paused', resumable: true };

it('--resume alone goes on with the only session of this project that can', async () => {
  const done = listing('dddd');
  const elsewhere = listing('cccc', { ...paused, project: '/other' });
  expect(await choose(whichToGoOn, done, elsewhere, listing('aaaa', { ...paused, goal: 'a\ngoal' }))).toEqual(
    ['aaaa', 'session aaaa (paused) a goal\n'],
  );
  expect((await choose(whichToGoOn, done, listing('bbbb', { state: 'active' })))[0]).toBe('bbbb');
  await expect(choose(whichToGoOn, listing('aaaa', paused), listing('bbbb', paused))).rejects.toMatchObject({
    code: 'USAGE',
    message: 'more than one session of this project can go on: aaaa (paused) x; bbbb (paused) x',
    hint: 'say which one: agentorchestr --resume aaaa',
  });
  const failed = listing('ffff', { state: 'failed', resumable: true });
  expect((await choose(whichToGoOn, failed, listing('aaaa', paused)))[0]).toBe('aaaa');
  expect((await choose(whichToGoOn, failed, done))[0]).toBe('ffff');
  const running = listing('bbbb', { state: 'active' });
  expect((await choose(whichToGoOn, running, failed, listing('aaaa', paused)))[0]).toBe('aaaa');
  expect((await choose(whichToGoOn, failed, running))[0]).toBe('bbbb');
  await expect(choose(whichToGoOn, done)).rejects.toMatchObject({
    message: 'no session of this project can go on',
    hint: 'start one: agentorchestr --goal "…"',
  });
  await expect(choose(whichToGoOn, done, elsewhere)).rejects.toMatchObject({
    hint: expect.stringContaining('--list-sessions') as string,
  });
});

it.each([
  [['--resume', '--json'], 'no session of this project can go on'],
  [['--resume', '--goal', 'more'], 'no session of this project can go on'],
  [['--resume', ''], '--resume needs a value'],
  [['--resume='], '--resume needs a value'],
  [['--resume', 'aaaa'], 'no session "aaaa"'],
])('%j is read as it is meant', async (args, problem) => {
  const terminal = fakeTerminal();
  const host = fakeHost(terminal, {
    listSessions: () => Promise.resolve([]),
    findSession: (prefix) => Promise.reject(new OrchestratorError('SESSION_NOT_FOUND', { session: prefix })),
  });
  expect(await runProgram(host, args)).not.toBe(0);
  expect(terminal.said.err + terminal.said.out).toContain(problem);
});
