import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../support/tmux.js';
import { openPty } from './pty.js';
import { CliRig, DONE_LEAD, ONE_WORKER, SILENT_LEAD } from './rig.js';

let rig: CliRig;
beforeEach(async () => {
  rig = await CliRig.create();
});
afterEach(() => rig.close());

const onlySession = () => rig.look((store) => store.sessions(2));

describe('on a terminal', () => {
  it('[13] asks for the goal, for trust and for consent, shows the panes, and sums up when they close', async () => {
    rig.repo.commit('verify', { 'PROJECT.md': '## How to verify\n\n- test: test -f b.txt\n' });
    const pty = openPty(rig, ['--interactive', ...rig.playing(ONE_WORKER)]);
    await pty.shows(/What is to be reached\?.*\n>/);
    pty.type('Write b.txt');
    pty.keys('Enter');
    pty.type(`and ${'very '.repeat(1_000)}carefully`);
    pty.keys('Enter');
    pty.type('/end');
    pty.keys('Enter');
    await pty.shows(/Trust this project\? \[y\/N\]/);
    pty.type('y');
    pty.keys('Enter');
    await pty.shows(/test -f b\.txt {3}\(PROJECT\.md\)\nRun them\? \[y\/N\]/);
    pty.type('y');
    pty.keys('Enter');
    await pty.shows(/ done · branch agentorchestr\//);
    pty.keys('C-b', 'd');
    expect(await pty.ended()).toBe(0);
    expect(pty.screen()).toMatch(/session [0-9a-f]{8} {2}done\n {2}b\.txt is there/);
    expect(pty.screen()).toMatch(/merge +git merge agentorchestr\//);
    const [session] = onlySession();
    expect(session?.goal).toBe(`Write b.txt\nand ${'very '.repeat(1_000)}carefully`);
  });

  it('[13] Ctrl-C at a question exits 130 and starts nothing', async () => {
    const pty = openPty(rig, ['--interactive', ...rig.playing(DONE_LEAD)]);
    await pty.shows(/\n>/);
    pty.type('half a go');
    pty.keys('C-c');
    expect(await pty.ended()).toBe(130);
    expect(pty.screen()).toContain('interrupted; nothing was started or changed');
  });

  it('[37] leaving the panes leaves the session running; attach comes back; the panes stay after the end', async () => {
    const pty = openPty(rig, ['--goal', 'x', '--yes', '--verify', 'true', ...rig.playing(SILENT_LEAD)]);
    await pty.shows(/working · esc to interrupt/);
    const [session] = onlySession();
    const sessionId = session?.session_id ?? '';
    expect(rig.look((store) => store.session(sessionId)?.options)).toMatchObject({
      plan: { terminal: { columns: 110, rows: 36 } },
    });
    pty.keys('C-b', 'd');
    expect(await pty.ended()).toBe(20);
    expect(pty.screen()).toContain(`session ${sessionId} goes on; agentorchestr attach ${sessionId}`);

    const again = openPty(rig, ['attach', sessionId.slice(0, 4)], { insideTmux: true });
    await again.shows(/working · esc to interrupt/);
    const left = openPty(rig, ['status', '--watch'], { columns: 40, rows: 12 });
    const watch = openPty(rig, ['status', '--watch']);
    for (const pty of [left, watch]) await pty.shows(/^session [0-9a-f]{8} {2}active/m);
    await left.shows(/^q leaves; the session goes on$/m);
    left.keys('q');
    expect(await left.ended()).toBe(20);
    expect((await rig.run(['pause'])).stdout).toBe(`session ${sessionId} is paused\n`);
    await again.shows(/paused · paused by the person .*Enter: now/);
    again.keys('Enter');
    expect(await again.ended()).toBe(2);
    expect(await watch.ended()).toBe(2);
    for (const pty of [again, watch])
      expect(pty.screen()).toMatch(new RegExp(`session ${sessionId} {2}paused`));
    expect(watch.screen()).not.toContain('q leaves');

    const after = openPty(rig, ['attach', sessionId]);
    await after.shows(/──.*lead/);
    after.keys('C-b', 'd');
    expect(await after.ended()).toBe(2);
  });
});

describe('attaching', () => {
  /** Notes every tmux command line, then runs the real one. */
  function noteTmux(): () => string[] {
    const log = join(rig.world.sandbox.root, 'tmux.log');
    writeFileSync(log, '');
    rig.fakeProgram('tmux', `echo "$@" >> ${log}\nexec /usr/bin/env -u NOTHING ${realTmux()} "$@"`);
    return () => readFileSync(log, 'utf8').split('\n');
  }

  it('[23] --no-attach never runs a tmux command that attaches or switches, though there is a terminal', async () => {
    const commands = noteTmux();
    const pty = openPty(rig, [
      '--goal',
      'x',
      '--yes',
      '--no-attach',
      '--verify',
      'true',
      ...rig.playing(DONE_LEAD),
    ]);
    expect(await pty.ended()).toBe(0);
    const ours = commands().filter((line) => line.includes('agentorchestr-'));
    expect(ours).not.toEqual([]);
    expect(ours.filter((line) => /attach|switch-client/.test(line) && !line.includes('-C'))).toEqual([]);
  });

  it('[23] inside tmux the command is printed and the session watched; --attach nests', async () => {
    const args = ['--goal', 'x', '--yes', '--verify', 'true'];
    const watched = openPty(rig, [...args, ...rig.playing(DONE_LEAD)], { insideTmux: true });
    expect(await watched.ended()).toBe(0);
    expect(watched.screen()).toContain(
      'You are inside tmux: the panes are not shown here (--attach nests them).',
    );
    expect(watched.screen()).toMatch(/To see the panes: agentorchestr attach [0-9a-f]{8}/);

    const nested = openPty(rig, [...args, '--attach', ...rig.playing(SILENT_LEAD)], { insideTmux: true });
    await nested.shows(/working · esc to interrupt/);
    nested.keys('C-b', 'C-b', 'd');
    await nested.close();
  });

  it('without a terminal says what to type', async () => {
    const started = rig.start([
      '--goal',
      'x',
      '--yes',
      '--no-attach',
      '--verify',
      'true',
      ...rig.playing(SILENT_LEAD),
    ]);
    const [, sessionId = ''] = await started.says(/session ([0-9a-f]{8}) runs/);
    const { code, stderr } = await rig.run(['attach', sessionId]);
    expect(code).toBe(64);
    expect(stderr).toContain(
      `error: attach needs a terminal\nhint: type this in a terminal: agentorchestr attach ${sessionId}`,
    );
    started.child.kill('SIGHUP');
    expect(await started.finished).toMatchObject({ code: null });
    expect(rig.look((store) => store.session(sessionId)?.state)).toBe('active');
    await until(() => rig.look((store) => store.lease(sessionId)) !== null, 'the session still owned');
  });

  it('says when the panes are gone', async () => {
    const { stdout } = await rig.run([
      '--goal',
      'x',
      '--yes',
      '--json',
      '--kill-tmux',
      '--verify',
      'true',
      ...rig.playing(DONE_LEAD),
    ]);
    const { session_id: sessionId } = JSON.parse(stdout) as { session_id: string };
    const { code, stderr } = await rig.run(['attach', sessionId]);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /error: session [0-9a-f]{8} has no panes: its tmux server is gone\nhint: .*agentorchestr status/,
    );
  });
});

function realTmux(): string {
  for (const folder of (process.env['PATH'] ?? '').split(':')) {
    try {
      const path = join(folder, 'tmux');
      readFileSync(path);
      return path;
    } catch {
      // Not here.
    }
  }
  throw new Error('no tmux');
}
