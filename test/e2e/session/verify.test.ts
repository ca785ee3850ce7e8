import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SessionRig, SILENT_LEAD } from '../../support/session-rig.js';

let rig: SessionRig;
beforeEach(() => {
  rig = new SessionRig();
});
afterEach(() => rig.close(), 120_000);

const command = (line: string) => ({ label: 'check', command: line, source: 'test' });

describe('verification as a job', () => {
  it('[64] answers "running" at its limit, goes on, and is joined again by id and by commit', async () => {
    await rig.start(SILENT_LEAD, { verify_commands: [command('sleep 4')] });
    const lead = await rig.lead();
    const first = await lead.ok('verify', { timeout_s: 1 });
    expect(first).toMatchObject({ state: 'running', passed: false, ask_again: true, commands: [] });
    const [byId, byCommit] = await Promise.all([
      lead.ok('verify', { verify_id: first['verify_id'] }),
      lead.ok('verify'),
    ]);
    expect(byId).toMatchObject({
      state: 'passed',
      passed: true,
      ask_again: false,
      verify_id: first['verify_id'],
    });
    expect(byCommit).toMatchObject({ state: 'passed', verify_id: first['verify_id'] });
    expect(rig.types().filter((type) => type === 'verify.started')).toHaveLength(1);
  });

  it('stops at the first command that fails, says which and shows its output; the verdict is refused', async () => {
    await rig.start(SILENT_LEAD, {
      verify_commands: [command('echo fine'), command('echo broken here; exit 3'), command('echo never')],
    });
    const lead = await rig.lead();
    const answer = await lead.ok('verify');
    expect(answer).toMatchObject({
      state: 'failed',
      passed: false,
      reason: 'check: "echo broken here; exit 3" ended with 3',
    });
    const ran = answer['commands'] as { command: string; exit_code: number; tail: string }[];
    expect(ran.map(({ exit_code, tail }) => [exit_code, tail])).toEqual([
      [0, 'fine'],
      [3, 'broken here'],
    ]);
    expect(await lead.code('mark_goal_done', { summary: 'x' })).toBe('VERIFICATION_MISSING');
    const worktrees = rig.repo.git('worktree', 'list', '--porcelain');
    expect(worktrees).not.toContain('verify-');
  });

  it('[59] gives workers of a plain folder its files, and brings the difference home with apply', async () => {
    await rig.close();
    rig = new SessionRig({ repo: (world) => world.at(world.sandbox.folder('plain')) });
    const { writeFileSync, readFileSync, existsSync } = await import('node:fs');
    writeFileSync(`${rig.repo.path}/notes.txt`, 'plain\n');
    await rig.start(
      `${SILENT_LEAD}
workers:
  - contains: extend
    steps:
      - append: notes.txt
        content: "more\\n"
      - commit: more
      - report_done: extended
`,
      { apply: true, verify_commands: [command('grep -q more notes.txt')] },
    );
    const lead = await rig.lead();
    const { worktree } = await lead.ok('spawn_worker', { task: 'extend the notes' });
    expect(readFileSync(`${String(worktree)}/notes.txt`, 'utf8')).toContain('plain');
    expect(await lead.ok('wait_for_worker', { worker_id: 'w01' })).toMatchObject({ state: 'done' });
    expect(await lead.ok('integrate_worker', { worker_id: 'w01' })).toMatchObject({ merged: true });
    expect(await lead.ok('verify')).toMatchObject({ passed: true });
    await lead.ok('mark_goal_done', { summary: 'extended' });
    rig.interruptLead();
    await rig.supervisorEnded();
    expect(readFileSync(`${rig.repo.path}/notes.txt`, 'utf8')).toBe('plain\nmore\n');
    expect(existsSync(`${rig.repo.path}/.git`)).toBe(false);
    expect(rig.store.session(rig.sessionId)).toMatchObject({
      state: 'done',
      applied: expect.stringMatching(/\w/),
    });
  });
});
