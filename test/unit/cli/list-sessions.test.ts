import { describe, expect, it } from 'vitest';
import type { SessionListing } from '../../../src/doors/cli/host.js';
import { runProgram } from '../../../src/doors/cli/program.js';
import { fakeHost, fakeTerminal } from './fake-host.js';

const session = (id: string, more: Partial<SessionListing> = {}): SessionListing => ({
  ...{ session_id: id, state: 'done', resumable: false, workers_total: 3, workers_done: 2 },
  ...{ cleaned_at: null, salvaged: false },
  ...{
    created_at: '2030-01-01T10:00:00Z',
    updated_at: '2030-01-01T11:50:00Z',
    project: '/p',
    goal: 'a goal',
  },
  ...more,
});

async function list(sessions: readonly SessionListing[], ...flags: string[]) {
  const terminal = fakeTerminal();
  const limits: number[] = [];
  const listSessions = (limit: number) => {
    limits.push(limit);
    return Promise.resolve(sessions.slice(0, limit));
  };
  const code = await runProgram(fakeHost(terminal, { listSessions }), ['--list-sessions', ...flags]);
  return { code, limits, out: terminal.said.out };
}

describe('--list-sessions', () => {
  it('[21] asks for the newest 20 and shows them in that order, resumable ones marked, goals cut at 60', async () => {
    const many = Array.from({ length: 25 }, (_, index) => session(`000000${10 + index}`));
    const { code, limits, out } = await list([
      session('3f2a91bc', { state: 'crashed', resumable: true, goal: `one\ntwo ${'x'.repeat(80)}` }),
      ...many,
    ]);
    expect({ code, limits }).toEqual({ code: 0, limits: [20] });
    const lines = out.trimEnd().split('\n');
    expect(lines).toHaveLength(21);
    expect(lines[0]).toBe(`*  3f2a91bc  crashed  2/3 done  10 min ago  one two ${'x'.repeat(51)}…`);
    expect(lines[1]).toBe('   00000010  done     2/3 done  10 min ago  a goal');
    expect(lines.at(-1)).toBe('* goes on with agentorchestr --resume ID');
  });

  it('names the project of each where there are several', async () => {
    const two = [session('aaaa', { project: '/home/me/site' }), session('bbbb', { project: '/home/me/api' })];
    expect((await list(two)).out).toBe(
      '   aaaa  done  2/3 done  10 min ago  site  a goal\n   bbbb  done  2/3 done  10 min ago  api   a goal\n',
    );
    expect((await list(two.slice(0, 1))).out).not.toContain('site');
  });

  it('[25] as JSON has every field and nothing else', async () => {
    const one = session('3f2a91bc');
    expect(JSON.parse((await list([one], '--json')).out)).toEqual({ sessions: [one] });
  });
});
