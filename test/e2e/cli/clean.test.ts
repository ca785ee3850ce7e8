import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isServerAlive } from '../../../src/backends/tmux/attach.js';
import type { CleanReport } from '../../../src/services/supervise/clean-report.js';
import { allRefs } from '../../support/repo.js';
import { CliRig, ONE_WORKER, SILENT_LEAD } from './rig.js';

let rig: CliRig;
beforeEach(async () => {
  rig = await CliRig.create();
});
afterEach(() => rig.close());

const goal = (script: string) => [
  '--goal',
  'a goal',
  '--yes',
  '--no-attach',
  '--verify',
  'true',
  ...rig.playing(script),
];

describe('clean, merge and salvage', () => {
  it('take a real session from its end to nothing left: panes, folders, branches, and the result at home', async () => {
    expect((await rig.run(goal(ONE_WORKER))).code).toBe(0);
    const [sessionId = ''] = rig.sessionIds();
    const socketName = rig.look((store) => store.session(sessionId)?.tmux_socket ?? '');
    const status = await rig.run(['status', sessionId]);
    expect(status.stdout).toMatch(new RegExp(`on disk .* kB .*agentorchestr clean ${sessionId} --dry-run`));
    const asked = await rig.run(['clean', sessionId]);
    expect([asked.code, asked.stderr]).toEqual([64, expect.stringContaining('say --yes') as string]);
    const dry = await rig.run(['clean', sessionId.slice(0, 5), '--dry-run']);
    expect(dry.stdout).toMatch(/would go\n {2}panes +tmux server/);
    expect(await isServerAlive({ socketName, env: rig.env })).toBe('yes');
    expect((await rig.run(['clean', '--all-done', '--yes'])).stdout).toContain(
      'the result is not merged yet',
    );
    expect(await isServerAlive({ socketName, env: rig.env })).toBe('no');
    expect(existsSync(join(rig.world.sandbox.temp, `agentorchestr-${sessionId}`))).toBe(false);
    const merged = await rig.run(['merge', sessionId]);
    expect(merged).toMatchObject({ code: 0, stdout: expect.stringContaining('fast-forwarded') as string });
    expect(rig.repo.read('b.txt')).toBe('b\n');
    expect((await rig.run(['merge', sessionId])).stdout).toContain('your checkout has it already');
    const last = await rig.run(['clean', sessionId, '--yes', '--json']);
    const { sessions } = JSON.parse(last.stdout) as { sessions: CleanReport[] };
    expect(sessions).toMatchObject([{ left: [], salvaged: [] }]);
    expect(Object.keys(allRefs(rig.repo))).toEqual(['refs/heads/main']);
    expect((await rig.run(['status', sessionId])).stdout).toMatch(/cleaned .*salvage list/);
    expect((await rig.run(['salvage', 'list'])).stdout).toBe('nothing is kept\n');
    const resumed = await rig.run(['--resume', sessionId]);
    expect(resumed.stderr).toContain('is over; there is nothing to take up');
  });

  it('refuse a session that runs; of one that crashed, end its agents when told to, and then it cannot be resumed', async () => {
    const started = rig.start(goal(SILENT_LEAD));
    const [, sessionId = ''] = await started.says(/session ([0-9a-f]{8}) runs/);
    const live = await rig.run(['clean', sessionId, '--yes', '--give-up']);
    expect([live.code, live.stderr]).toEqual([1, expect.stringContaining('agents are at work') as string]);
    process.kill(rig.control(sessionId).pid, 'SIGKILL');
    await started.finished;
    const crashed = await rig.run(['clean', sessionId, '--yes']);
    expect([crashed.code, crashed.stderr]).toEqual([
      1,
      expect.stringContaining('it can still be resumed') as string,
    ]);
    expect((await rig.run(['clean', sessionId, '--yes', '--give-up'])).code).toBe(0);
    expect(await rig.world.sandbox.left()).toEqual([]);
    const resumed = await rig.run(['--resume', sessionId]);
    expect([resumed.code, resumed.stderr]).toEqual([
      1,
      expect.stringContaining('it was cleaned at') as string,
    ]);
  });
});
