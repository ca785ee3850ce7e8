import { expect, it } from 'vitest';
import { whichRunningSession, whichSession } from '../../../src/doors/cli/commands/which-session.js';
import type { SessionListing } from '../../../src/doors/cli/host.js';
import { fakeHost, fakeTerminal } from './fake-host.js';

const HERE = process.cwd();

const listing = (session_id: string, more: Partial<SessionListing> = {}): SessionListing => ({
  ...{ session_id, state: 'done', cleaned_at: null, resumable: false, salvaged: false },
  ...{ workers_total: 0, workers_done: 0, created_at: '', updated_at: '', project: HERE, goal: 'x' },
  ...more,
});

async function choose(choice: typeof whichSession, ...sessions: readonly SessionListing[]) {
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
