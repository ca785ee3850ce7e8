import { afterEach, beforeEach, expect, it } from 'vitest';
import { isAlive } from '../../../src/platform/process-tree.js';
import type { SessionReport } from '../../../src/services/supervise/session-report.js';
import { until } from '../../support/tmux.js';
import { openPty } from './pty.js';
import { CliRig, SILENT_LEAD } from './rig.js';

let rig: CliRig;
beforeEach(async () => {
  rig = await CliRig.create();
});
afterEach(() => rig.close());

async function onTerminal(endShown: number) {
  const env = { AGENTORCHESTR_TMUX_END_SHOWN_S: String(endShown) };
  const args = ['--goal', 'x', '--yes', '--verify', 'true', ...rig.playing(SILENT_LEAD)];
  const pty = openPty(rig, args, { env });
  await pty.shows(/working · esc to interrupt/);
  const [session] = rig.look((store) => store.sessions(1));
  return { pty, sessionId: session?.session_id ?? '' };
}

async function listed(): Promise<unknown> {
  const { stdout } = await rig.run(['--list-sessions', '--json']);
  return (JSON.parse(stdout) as { sessions: unknown[] }).sessions[0];
}

it('[35] a key in the panes pauses the session; untouched, the terminal then has the summary, and exit 2', async () => {
  const { pty, sessionId } = await onTerminal(1);
  await pty.shows(/Ctrl-b P pauses · Ctrl-b d leaves/);
  pty.keys('C-b', 'P');
  await pty.shows(new RegExp(`pause session ${sessionId}\\? .*\\(y/n\\)`));
  pty.keys('y');
  expect(await pty.ended()).toBe(2);
  expect(pty.screen()).toMatch(new RegExp(`session ${sessionId} {2}paused\n {2}paused by the person`));
  expect(await listed()).toMatchObject({ session_id: sessionId, state: 'paused', resumable: true });

  // Its supervisor is gone; nothing is left to end.
  expect((await rig.run(['stop', sessionId])).stdout).toBe(`session ${sessionId} is failed\n`);
  expect(await listed()).toMatchObject({ state: 'failed', resumable: true });
});

it('stop ends a session as failed, says why, and does not wait for those who read its end', async () => {
  const { pty, sessionId } = await onTerminal(3_600);
  const stopped = await rig.run(['stop', sessionId.slice(0, 6), '--reason', 'wrong goal', '--json']);
  expect(stopped.code).toBe(0);
  expect(JSON.parse(stopped.stdout)).toEqual({ session_id: sessionId, state: 'failed' });
  await pty.shows(/failed · stopped: wrong goal .*leaves in 3600 s · Enter: now/);
  expect(pty.screen()).toContain('lead scripted · exited');
  expect(pty.screen()).toContain('> [Pasted text');
  pty.keys('Enter');
  expect(await pty.ended()).toBe(2);
  expect(pty.screen()).toMatch(new RegExp(`session ${sessionId} {2}failed\n {2}stopped: wrong goal`));
  expect(await listed()).toMatchObject({ session_id: sessionId, state: 'failed', resumable: true });

  const again = await rig.run(['stop', sessionId]);
  expect(again.code).toBe(1);
  expect(again.stderr).toContain(`session ${sessionId} has ended (failed)`);
});

const KILLING_LEAD = `lead:
  - match: '^# Goal$'
    steps:
      - call: spawn_worker
        with: { task: write the page }
      - call: spawn_worker
        with: { task: write the footer }
      - call: spawn_worker
        with: { task: write the header }
      - run: 'until test -e {{cwd}}/../implementer-w01/page.txt && test -e {{cwd}}/../implementer-w02/done; do sleep 0.1; done'
      - call: wait_for_worker
        with: { worker_id: w03, timeout_s: 60 }
        until: { done: true }
      - call: kill_worker
        with: { worker_id: w01 }
      - call: kill_worker
        with: { worker_id: w02 }
      - call: verify
        until: { state: passed }
      - call: mark_goal_done
        with: { summary: done without them, discard: [{ worker: w02, reason: no footer wanted }] }
workers:
  - contains: write the page
    steps:
      - write: page.txt
        content: half a page
      - silence: true
  - contains: write the footer
    steps:
      - write: footer.txt
        content: a footer
      - commit: Add the footer
      - write: done
        content: yes
      - silence: true
  - contains: write the header
    steps:
      - write: header.txt
        content: a header
      - commit: Add the header
      - fork: 2
      - run: 'rm -rf "$PWD"'
      - crash: SIGKILL
`;

it('a summary names the work of workers that the result does not hold, and where it is', async () => {
  const args = ['--goal', 'x', '--yes', '--verify', 'true', '--no-attach', ...rig.playing(KILLING_LEAD)];
  const { code, stdout } = await rig.run(args);
  expect(code).toBe(0);
  const [lines = ''] = /not in the result[^]*?\n\n/.exec(stdout) ?? [];
  expect(lines).toMatch(/^not in the result \(clean keeps it, too\)$/m);
  expect(lines).toMatch(/^ {2}w01 {2}1 changed file {12}\/\S+\/implementer-w01$/m);
  expect(lines).toMatch(
    /^ {2}w02 {2}1 commit, 1 changed file {2}\/\S+\/implementer-w02 {2}discarded: no footer wanted$/m,
  );
  // Whatever an agent left running ends with the session.
  const running = (await rig.world.sandbox.left()).map(({ command }) => command);
  expect(running.filter((command) => command.includes('setTimeout'))).toEqual([]);
  // Its worktree is gone, its branch is not.
  expect(lines).toMatch(/^ {2}w03 {2}1 commit {18}branch agentorchestr\/[0-9a-f]{8}\/implementer-w03$/m);
});

it('a verification that a pause stopped is interrupted, and no verdict', async () => {
  const script = `lead:
  - match: '^# Goal$'
    steps: [{ call: verify, until: { state: passed } }]
`;
  const args = ['--goal', 'x', '--yes', '--verify', 'sleep 300', '--no-attach', ...rig.playing(script)];
  const started = rig.start(args);
  const [, sessionId = ''] = await started.says(/session ([0-9a-f]{8}) runs/);
  await started.says(/verifying [0-9a-f]{7}/);
  expect((await rig.run(['pause', sessionId])).code).toBe(0);
  const { stdout } = await started.finished;
  expect(stdout).toMatch(
    /^verify {3}interrupted at [0-9a-f]{7}\n.*the session ends\n {2}stopped {2}\S+ s {2}sleep 300\n\n/m,
  );
  const { verify } = JSON.parse((await rig.run(['status', sessionId, '--json'])).stdout) as SessionReport;
  expect(verify).toMatchObject({ state: 'interrupted', commands: [{ exit_code: null, stopped: true }] });
});

it('stop of a session whose supervisor died ends also what an agent left that ended before', async () => {
  const script = `lead:
  - match: '^# Goal$'
    steps: [{ call: spawn_worker, with: { task: leave something } }, { silence: true }]
workers:
  - contains: leave something
    steps: [{ fork: 1 }, { crash: SIGKILL }]
`;
  const args = ['--goal', 'x', '--yes', '--verify', 'true', '--no-attach', ...rig.playing(script)];
  const started = rig.start(args);
  const [, sessionId = ''] = await started.says(/session ([0-9a-f]{8}) runs/);
  await until(
    () => rig.look((store) => store.worker(sessionId, 'w01')?.state === 'exited'),
    'the end of the worker',
  );
  process.kill(rig.control(sessionId).pid, 'SIGKILL');
  await started.finished;
  const left = async () =>
    (await rig.world.sandbox.left()).filter(({ command }) => command.includes('setTimeout'));
  expect(await left()).toHaveLength(1);
  expect((await rig.run(['stop', sessionId])).code).toBe(0);
  expect(await left()).toEqual([]);
});

it.each([
  { verb: 'stop', state: 'failed' },
  { verb: 'pause', state: 'paused' },
])(
  '$verb of a session whose supervisor died ends its agents, and it goes on after that',
  async ({ verb, state }) => {
    const args = ['--goal', 'x', '--yes', '--verify', 'true', '--no-attach', ...rig.playing(SILENT_LEAD)];
    const started = rig.start(args);
    const [, sessionId = ''] = await started.says(/session ([0-9a-f]{8}) runs/);
    const isAtWork = () =>
      rig.look(
        (store) => store.worker(sessionId, 'lead')?.state === 'working' && store.attempts(sessionId)[0],
      );
    await until(() => isAtWork() !== false, 'the lead is at work');
    process.kill(rig.control(sessionId).pid, 'SIGKILL');
    await started.finished;
    const [attempt] = rig.look((store) => store.attempts(sessionId));
    const agent = { pid: attempt?.pid ?? 0, pidStartedAt: attempt?.pid_started_at ?? '' };
    expect(isAlive(agent)).toBe(true);

    const ended = await rig.run([verb, sessionId]);
    expect(ended).toMatchObject({ code: 0, stdout: `session ${sessionId} is ${state}\n` });
    expect(isAlive(agent)).toBe(false);
    expect(await listed()).toMatchObject({ state, resumable: true });
    expect((await rig.run(['pause', sessionId])).code).toBe(state === 'paused' ? 0 : 1);

    const again = rig.start(['--resume', sessionId, '--no-attach']);
    await again.says(/session [0-9a-f]{8} runs; Ctrl-C pauses it/);
    const attempts = () => rig.look((store) => store.attempts(sessionId));
    await until(() => attempts().length === 2, 'the lead is started again');
    again.child.kill('SIGINT');
    expect((await again.finished).code).toBe(2);
  },
);
