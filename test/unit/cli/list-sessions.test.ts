import { expect, it } from 'vitest';
import type { SessionListing } from '../../../src/doors/cli/host.js';
import { runProgram } from '../../../src/doors/cli/program.js';
import { fakeHost, fakeTerminal } from './fake-host.js';

const listing = (session_id: string, project: string): SessionListing => ({
  ...{ session_id, state: 'done', cleaned_at: null, resumable: false, salvaged: false, project },
  ...{ workers_total: 2, workers_done: 2, goal: 'a goal' },
  ...{ created_at: '', updated_at: '2030-01-01T11:56:00Z' },
});

async function listed(...sessions: readonly SessionListing[]): Promise<string> {
  const terminal = fakeTerminal();
  const host = fakeHost(terminal, { listSessions: () => Promise.resolve(sessions) });
  expect(await runProgram(host, ['--list-sessions'])).toBe(0);
  return terminal.said.out;
}

it('sessions of several projects are listed with the name of each', async () => {
  expect(await listed(listing('aaaa', '/home/me/site'), listing('bbbb', '/home/me/api'))).toBe(
    '   aaaa  done  2/2 done  4 min ago  site  a goal\n   bbbb  done  2/2 done  4 min ago  api   a goal\n',
  );
  expect(await listed(listing('aaaa', '/home/me/site'), listing('bbbb', '/home/me/site'))).not.toContain(
    'site',
  );
});
