import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isStopped } from '../../../src/platform/process-tree.js';
import type { WorkerRow } from '../../../src/core/state/rows.js';
import type { SessionReport } from '../../../src/services/supervise/session-report.js';
import { pathWithoutTmux } from '../../support/no-tmux.js';
import { fingerprint } from '../../support/repo.js';
import { until } from '../../support/tmux.js';
import { openPty } from './pty.js';
import { CliRig } from './rig.js';

let rig: CliRig;
beforeEach(async () => {
  rig = await CliRig.create();
});
afterEach(() => rig.close());

const WRITES = `workers:
  - contains: Write b.txt
    steps:
      - write: b.txt
        content: "b\\n"
      - commit: Add b
      - report_done: b.txt written
`;

const manual = (script: string, ...more: string[]) => [
  ...['--manual', '--task', 'Write b.txt', '--yes', '--agent', 'scripted'],
  ...rig.playing(script).slice(2),
  ...more,
];

const sessionId = () => rig.sessionIds()[0] ?? '';
const row = () => rig.look((store) => store.session(sessionId()));
const worker = () => rig.look((store) => store.worker(sessionId(), 'w01')) as WorkerRow;
const events = () =>
  rig
    .look((store) => store.events({ after: 0, sessionId: sessionId(), limit: 1_000 }))
    .map(({ type }) => type);

describe('one agent in tmux', () => {
  it('[111] does its task in its own worktree; done: exit 0, verified, applied, one JSON document', async () => {
    const args = manual(WRITES, '--apply', '--json', '--kill-tmux', '--verify', 'test -f b.txt');
    const { code, stdout, stderr } = await rig.run(args);
    expect(code, stderr).toBe(0);
    const report = JSON.parse(stdout) as SessionReport;
    expect(report).toMatchObject({ state: 'done', summary: 'b.txt written', verify: { state: 'passed' } });
    expect(report.workers).toMatchObject([{ worker_id: 'w01', state: 'done', integrated: true }]);
    expect(rig.repo.read('b.txt')).toBe('b\n');
    // Nobody leads, and everything it left is a branch.
    expect(rig.look((store) => store.workers(sessionId())).map(({ role }) => role)).toEqual(['worker']);
    expect(existsSync(worker().worktree)).toBe(false);
    expect(stderr).not.toContain('left ');
  });

  it('[111] a result that fails its verification: exit 2, nothing is applied, the work is kept and named', async () => {
    const before = fingerprint(rig.repo.path, rig.repo.repository);
    const args = manual(WRITES, '--apply', '--kill-tmux', '--verify', 'test -f c.txt');
    const { code, stdout, stderr } = await rig.run(args);
    expect(code).toBe(2);
    expect(stdout).toContain(`session ${sessionId()}  failed\n  the verification failed: test -f c.txt`);
    expect(stderr).toContain(`left  branch ${worker().branch}\n`);
    expect(stdout).toContain(`go on   agentorchestr --resume ${sessionId()}`);
    expect(stderr).toContain(`next  agentorchestr merge ${sessionId()} --anyway`);
    expect(stderr).toContain(`agentorchestr clean ${sessionId()} --give-up`);
    expect(fingerprint(rig.repo.path, rig.repo.repository)).toEqual(before);
  });
});

const noTmux = () => pathWithoutTmux(rig.world.sandbox);

const STAYS = `workers:
  - steps:
      - write: b.txt
        content: "b\\n"
      - silence: true
`;

const hasWritten = () => until(() => existsSync(join(worker().worktree, 'b.txt')), 'its file', 10_000);

describe('one agent where there is no tmux', () => {
  it('[111] it has the terminal; its end is the end of the session; exit 0 and the merge command', async () => {
    const pty = openPty(rig, manual(WRITES, '--verify', 'test -f b.txt'), { path: noTmux() });
    await pty.shows(/⎿ state done/);
    // It has reported, and the person may go on with it.
    await pty.shows(/ready · worker/);
    expect(row()).toMatchObject({ state: 'active', tmux_socket: null });
    expect(worker()).toMatchObject({ backend: 'foreground', pane_id: null });
    expect(events()).toContain('message.started');
    pty.type('/exit');
    pty.keys('Enter');
    expect(await pty.ended()).toBe(0);
    const screen = pty.screen();
    expect(screen).toContain('verifying: test -f b.txt');
    expect(screen).toContain(`session ${sessionId()}  done`);
    expect(screen).toContain(`git merge agentorchestr/${sessionId()}/integration`);
    expect(screen).toContain(`agentorchestr clean ${sessionId()}`);
    const submitted = rig
      .look((store) => store.events({ after: 0, sessionId: sessionId(), limit: 1_000 }))
      .find(({ type }) => type === 'message.submitted');
    expect(submitted?.evidence).toBe('protocol');
  });

  it('[111] Ctrl-C is the agent’s; one that stops itself goes on; its end without a report: exit 2, nothing lost', async () => {
    const pty = openPty(rig, manual(STAYS), { path: noTmux() });
    await pty.shows(/Working…/);
    await hasWritten();
    const { pid } = rig.look((store) => store.attempts(sessionId()))[0] ?? {};
    if (typeof pid !== 'number') throw new Error('it has no process');
    process.kill(pid, 'SIGSTOP');
    await until(() => !isStopped(pid), 'an agent that goes on', 10_000);
    pty.keys('C-c');
    await pty.shows(/Interrupted/);
    expect(row()?.state).toBe('active');
    pty.keys('C-c');
    await pty.shows(/ctrl-c again to leave/);
    pty.keys('C-c');
    expect(await pty.ended()).toBe(2);
    expect(pty.screen()).toContain('its agent ended without a report');
    expect(pty.screen()).toContain(`worktree ${worker().worktree}`);
    expect(pty.screen()).toContain(`git merge ${worker().branch}`);
    expect(row()?.state).toBe('failed');
    expect(readFileSync(join(worker().worktree, 'b.txt'), 'utf8')).toBe('b\n');
  });

  it('[111] a terminal that is closed pauses the session: the agent has ended, its work is there', async () => {
    const pty = openPty(rig, manual(STAYS), { path: noTmux() });
    await pty.shows(/Working…/);
    await hasWritten();
    await pty.close();
    await until(() => row()?.state === 'paused', 'a paused session', 30_000);
    expect(worker().state).toBe('exited');
    expect(readFileSync(join(worker().worktree, 'b.txt'), 'utf8')).toBe('b\n');
  });
});
