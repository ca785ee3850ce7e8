import { describe, expect, it } from 'vitest';
import type { SessionListing } from '../../../src/doors/cli/host.js';
import { runProgram } from '../../../src/doors/cli/program.js';
import { OrchestratorError } from '../../../src/core/errors/error.js';
import type { CleanReport } from '../../../src/services/supervise/clean-report.js';
import { fakeHost, fakeTerminal } from './fake-host.js';

const report = (session_id: string, dry_run: boolean): CleanReport => ({
  ...{ session_id, state: 'done', dry_run, resume_lost: null },
  removed: [{ what: 'worktree', name: `/w/${session_id}`, bytes: 12_300_000, note: null }],
  salvaged: [
    {
      ...{ worker: 'w01', ref: `refs/agentorchestr/salvage/${session_id}/w01`, commit: 'a1' },
      ...{ ignored_files: ['.env'], kept_in: '/kept/w01', submodules: [] },
    },
  ],
  left: [],
  bytes: 12_300_000,
});

const listing = (session_id: string, state: string, cleaned_at: string | null = null): SessionListing => ({
  ...{ session_id, state, cleaned_at, resumable: false, salvaged: false, workers_total: 0, workers_done: 0 },
  ...{ created_at: '', updated_at: '', project: '/p', goal: 'x' },
});

async function clean(
  options: { answers?: string[]; refuses?: string; sessions?: readonly SessionListing[] },
  ...args: string[]
) {
  const terminal = fakeTerminal({ tty: options.answers !== undefined, answers: options.answers ?? [] });
  const called: unknown[] = [];
  const sessions = [listing('aaaa', 'done'), listing('bbbb', 'failed'), listing('cccc', 'done', '2030')];
  const host = fakeHost(terminal, {
    listSessions: () => Promise.resolve(options.sessions ?? [...sessions, listing('dddd', 'done')]),
    findSession: (prefix) => Promise.resolve(`${prefix}-whole`),
    call: (sessionId, { name }, input) => {
      called.push([name, sessionId, input['dry_run'], input['give_up']]);
      if (options.refuses === sessionId)
        return Promise.reject(new OrchestratorError('SESSION_NOT_FOUND', { session: sessionId }));
      return Promise.resolve(report(sessionId, input['dry_run'] === true));
    },
  });
  const code = await runProgram(host, ['clean', ...args]);
  return { code, called, ...terminal.said };
}

describe('clean on the command line', () => {
  it('takes every session that reached its goal and is not cleaned yet', async () => {
    const { code, called } = await clean({}, '--all-done', '--yes');
    expect([code, called]).toEqual([
      0,
      [
        ['clean', 'aaaa', false, false],
        ['clean', 'dddd', false, false],
      ],
    ]);
  });

  it('says of those that can go on how they are cleaned, where --all-done finds none', async () => {
    const { code, out, err } = await clean({ sessions: [listing('bbbb', 'paused')] }, '--all-done', '--yes');
    expect([code, out]).toEqual([0, 'nothing to clean\n']);
    expect(err).toContain('cleaned by name only: agentorchestr clean bbbb');
  });

  it('shows what would go and asks; anything but yes removes nothing', async () => {
    for (const answer of ['', 'n', 'yeah']) {
      const { code, called, err } = await clean({ answers: [answer] }, '3f2a');
      expect([code, called]).toEqual([1, [['clean', '3f2a-whole', true, false]]]);
      expect(err).toContain('/w/3f2a-whole');
      expect(err).toContain('nothing was removed');
    }
    const { code, called, out } = await clean({ answers: ['y'] }, '3f2a');
    expect([code, called.at(-1)]).toEqual([0, ['clean', '3f2a-whole', false, false]]);
    expect(out).toContain('freed 12.3 MB');
    expect(out).toContain('refs/agentorchestr/salvage/3f2a-whole/w01');
    expect(out).toContain('ignored files .env in /kept/w01');
    expect(out).toContain('agentorchestr salvage restore 3f2a-whole/w01 --to DIR');
  });

  it('goes on with the others when one is refused, and says so with its exit code', async () => {
    const { code, out, err } = await clean({ refuses: 'x-whole' }, 'x', 'y', '--yes', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      bytes: 12_300_000,
      sessions: [{ session_id: 'y-whole' }],
      refused: [{ session_id: 'x-whole', code: 'SESSION_NOT_FOUND' }],
    });
    expect(err).toBe('');
  });
});
