import Database from 'better-sqlite3';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isServerAlive, killServer } from '../../../src/backends/tmux/attach.js';
import { processStartTime } from '../../../src/platform/identity.js';
import { until } from '../../support/tmux.js';
import { check, listing, type } from './doctor-rig.js';
import { CliRig, DONE_LEAD, FAILED_LEAD, SILENT_LEAD } from './rig.js';

let rig: CliRig;
beforeEach(async () => {
  rig = await CliRig.create();
  rig.fakeProgram('claude', 'echo "2.1.332 (Claude Code)"');
});
afterEach(() => rig.close());

const GOAL = ['--goal', 'a goal of this test', '--yes', '--no-attach', '--verify', 'true'];

const session = (id: string) => rig.look((store) => store.session(id));
const socketOf = (id: string) => session(id)?.tmux_socket ?? '';
const alive = (socketName: string) => isServerAlive({ socketName, env: rig.env });

/** A session at work whose viewer is gone. */
async function atWork(): Promise<string> {
  const running = rig.start([...GOAL, ...rig.playing(SILENT_LEAD)]);
  const [, id = ''] = await running.says(/session ([0-9a-f]{8})/);
  await until(() => rig.look((store) => store.worker(id, 'lead')?.state === 'working'), 'the lead at work');
  running.child.kill('SIGHUP');
  await running.finished;
  return id;
}

async function crash(id: string): Promise<void> {
  const { pid, pid_started_at: startedAt } = rig.control(id);
  process.kill(pid, 'SIGKILL');
  await until(() => processStartTime(pid) !== startedAt, 'the end of the supervisor');
}

describe('--doctor and sessions', () => {
  it('leaves a session at work alone, and names a crashed one with its resume command, not its server', async () => {
    const id = await atWork();
    const well = await check(rig);
    expect(well.troubles.filter((text) => !text.startsWith('ok'))).toEqual([]);
    expect(well.of('sessions')[0]?.found).toBe('1, 1 of them at work; none was left behind');
    expect(well.of('permissions')).toMatchObject([{ state: 'ok' }]);

    await crash(id);
    // tmux itself changes the mode of its socket with every client that comes or goes.
    const world = () =>
      listing(rig.world.sandbox.root, ['tmp', 's']).filter((line) => !line.startsWith('s/'));
    const before = world();
    expect(before.join('\n')).toContain('state/state.db-wal');
    const found = await check(rig);
    expect(world()).toEqual(before);
    expect(found.of('sessions')).toMatchObject([
      {
        state: 'warning',
        found: `${id} lost its supervisor ("a goal of this test")`,
        fix: `agentorchestr --resume ${id}`,
      },
    ]);
    expect(found.troubles).toHaveLength(1);
    expect(found.code).toBe(0);
    expect(await alive(socketOf(id))).toBe('yes');
  });

  it('has one that crashed before its first agent was there cleaned, for it cannot be resumed', async () => {
    const id = await atWork();
    await crash(id);
    const database = new Database(rig.paths.database);
    // Of the one that would do the task alone there is no row yet.
    database.prepare("UPDATE sessions SET options = json_set(options, '$.plan.mode', 'manual')").run();
    database.close();
    expect((await check(rig)).of('sessions')).toMatchObject([{ fix: `agentorchestr clean ${id}` }]);
    expect((await rig.run(['--list-sessions'])).stdout).toMatch(new RegExp(`^ +${id} +crashed`));
    expect((await rig.run(['--resume'])).stderr).toContain('no session of this project can go on');
    expect(await rig.run(['clean', id, '--yes'])).toMatchObject({ code: 0 });
  });

  it('names the kept panes of a session that is over, and a socket without a server', async () => {
    const finished = await rig.run([...GOAL, ...rig.playing(DONE_LEAD)]);
    expect(finished.code).toBe(0);
    const [id = ''] = rig.sessionIds();
    const socket = socketOf(id);
    const found = await check(rig);
    expect(found.of('tmux servers')).toMatchObject([
      {
        state: 'warning',
        path: socket,
        found: `the panes of session ${id} (done) are still kept`,
        fix: `agentorchestr clean ${id}`,
      },
    ]);
    expect(found.troubles).toHaveLength(1);
    const pid = Number(
      execFileSync('tmux', ['-S', socket, 'display-message', '-p', '#{pid}'], { env: rig.env }),
    );
    process.kill(pid, 'SIGKILL');
    await until(async () => (await alive(socket)) === 'no', 'the end of the server');
    const dead = await check(rig);
    expect(dead.of('tmux servers')).toMatchObject([
      { state: 'warning', found: `${socket} is left of a server that is gone`, fix: `rm ${socket}` },
    ]);
    type(rig, dead.of('tmux servers')[0]?.fix);
    expect((await check(rig)).troubles).toEqual([]);
  });

  it('names both ways on from the kept panes of a session that failed', async () => {
    await rig.run([...GOAL, ...rig.playing(FAILED_LEAD)]);
    const [id = ''] = rig.sessionIds();
    const [row] = (await check(rig)).of('tmux servers');
    expect(row?.found).toContain(`(failed) are still kept; go on with it (agentorchestr --resume ${id})`);
    expect(row?.fix).toBe(`agentorchestr clean ${id} --give-up`);
    expect((await rig.run(['clean', id, '--give-up', '--yes'])).code).toBe(0);
    expect((await check(rig)).troubles).toEqual([]);
  });

  it('names a server of a session that nobody knows, ends it only by its command, and spares one that is supervised elsewhere', async () => {
    const start = (name: string) =>
      execFileSync('tmux', ['-L', name, '-f', '/dev/null', 'new-session', '-d', 'exec cat'], {
        env: rig.env,
      });
    const socket = join(rig.world.sandbox.sockets, `tmux-${process.getuid?.()}`, 'agentorchestr-deadbeef');
    start('agentorchestr-deadbeef');
    start('agentorchestr-notours');
    rig.world.sandbox.onClose(async () => {
      await killServer({ socketName: 'agentorchestr-notours', env: rig.env });
    });
    const found = await check(rig);
    expect(found.troubles).toEqual([
      'warning a tmux server of session deadbeef, which this database does not know, has no supervisor',
    ]);
    expect(await alive(socket)).toBe('yes');
    type(rig, found.of('tmux servers')[0]?.fix);
    await until(async () => (await alive(socket)) === 'no', 'the end of the server');
    rmSync(socket, { force: true });

    const id = await atWork();
    const other = rig.world.sandbox.folder('other-home');
    const elsewhere = await check(rig, { env: { AGENTORCHESTR_HOME: other } });
    expect(elsewhere.troubles).toEqual([]);
    expect(elsewhere.of('sessions')[0]?.found).toBe('none yet');
    expect(await alive(socketOf(id))).toBe('yes');
  });

  it('names an agent that runs on after its session was over', async () => {
    await rig.run([...GOAL, '--kill-tmux', ...rig.playing(DONE_LEAD)]);
    const [id = ''] = rig.sessionIds();
    expect((await check(rig)).of('processes')).toEqual([]);
    const child = spawnSync('/bin/sh', ['-c', 'sleep 600 >/dev/null 2>&1 & echo $!'], { env: rig.env });
    const pid = Number(child.stdout.toString());
    rig.world.sandbox.onClose(() => void process.kill(pid, 'SIGKILL'));
    pretendThatItIsTheLead(id, pid);
    const found = await check(rig);
    expect(found.of('processes')).toMatchObject([
      { state: 'warning', found: `lead of session ${id} (done) runs on`, fix: `kill ${pid}` },
    ]);
  });

  function pretendThatItIsTheLead(id: string, pid: number): void {
    const database = new Database(rig.paths.database);
    database
      .prepare("UPDATE attempts SET state = 'running', pid = ?, pid_started_at = ? WHERE session_id = ?")
      .run(pid, processStartTime(pid), id);
    database.close();
  }
});

describe('--doctor and worktrees', () => {
  it('names a worktree of no session; its command spares what is not committed', async () => {
    const path = join(rig.paths.data, 'worktrees/project/feedface/w01');
    mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 });
    rig.repo.git('worktree', 'add', '--detach', '--quiet', path);
    writeFileSync(join(path, 'work.txt'), 'not committed\n');
    const found = await check(rig);
    expect(found.of('worktrees')).toMatchObject([
      {
        state: 'warning',
        path,
        found: `${path} is a worktree of no known session`,
        fix: `git -C ${rig.repo.repository} worktree remove ${path}`,
      },
    ]);
    const { fix } = found.of('worktrees')[0] ?? {};
    expect(() => type(rig, fix)).toThrow(/contains modified or untracked files/);
    rmSync(join(path, 'work.txt'));
    type(rig, fix);
    const rest = await check(rig);
    expect(rest.of('worktrees')).toMatchObject([
      { state: 'warning', found: expect.stringMatching(/feedface is empty, of no known session$/) as string },
    ]);
    type(rig, rest.of('worktrees')[0]?.fix);
    expect((await check(rig)).troubles).toEqual([]);
  });

  it('names a folder that no repository knows, and never says to remove it unseen', async () => {
    const path = join(rig.paths.data, 'worktrees/project/feedface/w02');
    mkdirSync(path, { recursive: true, mode: 0o700 });
    writeFileSync(join(path, 'work.txt'), 'work\n');
    const found = await check(rig);
    expect(found.of('worktrees')).toMatchObject([
      {
        found: `${path} belongs to no known session and to no repository`,
        fix: `look for work in it, then: rm -r ${path}`,
      },
    ]);
    expect(existsSync(join(path, 'work.txt'))).toBe(true);
  });

  it('names an entry whose folder is gone, until it was pruned', async () => {
    const id = await atWork();
    await crash(id);
    await rig.killServerOf(id);
    const before = await check(rig);
    expect(before.of('worktrees')).toMatchObject([
      { state: 'ok', found: '1 of known sessions; none was left behind' },
    ]);
    const root = join(rig.paths.data, 'worktrees/project', id);
    for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true });
    const found = await check(rig);
    expect(found.of('worktrees')).toMatchObject([
      { state: 'warning', fix: `git -C ${rig.repo.repository} worktree prune` },
    ]);
    type(rig, found.of('worktrees')[0]?.fix);
    expect((await check(rig)).of('worktrees')).toMatchObject([{ state: 'ok' }]);
  });
});
