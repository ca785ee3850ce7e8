import Database from 'better-sqlite3';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { isServerAlive, killServer } from '../../../src/backends/tmux/attach.js';
import { processStartTime } from '../../../src/platform/identity.js';
import { until } from '../../support/tmux.js';
import { check, listing, TERMINAL, troublesOf, words, type Row } from './doctor-rig.js';
import { CliRig, DONE_LEAD, FAILED_LEAD, SILENT_LEAD } from './rig.js';

let rig: CliRig;
beforeEach(async () => {
  rig = await CliRig.create();
  rig.fakeProgram('claude', 'echo "2.1.332 (Claude Code)"');
});
afterEach(() => rig.close());

const GOAL = ['--goal', 'a goal of this test', '--yes', '--no-attach', '--verify', 'true'];

const alive = (socketName: string) => isServerAlive({ socketName, env: rig.env });
const socketOf = (id: string) => rig.look((store) => store.session(id)?.tmux_socket ?? '');
const places = () => join(rig.world.sandbox.sockets, `tmux-${process.getuid?.()}`);

/** A session that is over; its panes are kept. */
async function over(lead: string): Promise<string> {
  await rig.run([...GOAL, ...rig.playing(lead)]);
  return rig.sessionIds()[0] ?? '';
}

async function crashed(): Promise<string> {
  const running = rig.start([...GOAL, ...rig.playing(SILENT_LEAD)]);
  const [, id = ''] = await running.says(/session ([0-9a-f]{8})/);
  await until(() => rig.look((store) => store.worker(id, 'lead')?.state === 'working'), 'the lead at work');
  running.child.kill('SIGHUP');
  await running.finished;
  const { pid, pid_started_at: startedAt } = rig.control(id);
  process.kill(pid, 'SIGKILL');
  await until(() => processStartTime(pid) !== startedAt, 'the end of the supervisor');
  return id;
}

function startServer(name: string): string {
  execFileSync('tmux', ['-L', name, '-f', '/dev/null', 'new-session', '-d', 'exec cat'], { env: rig.env });
  rig.world.sandbox.onClose(async () => {
    await killServer({ socketName: name, env: rig.env });
  });
  return join(places(), name);
}

async function leaveDeadSocket(name: string): Promise<string> {
  const socket = startServer(name);
  const pid = Number(
    execFileSync('tmux', ['-S', socket, 'display-message', '-p', '#{pid}'], { env: rig.env }),
  );
  process.kill(pid, 'SIGKILL');
  await until(async () => (await alive(socket)) === 'no', 'the end of the server');
  return socket;
}

/** An agent that outlived the session, as the database knows it. */
function leaveAgent(sessionId: string): number {
  const child = spawnSync('/bin/sh', ['-c', 'sleep 600 >/dev/null 2>&1 & echo $!'], { env: rig.env });
  const pid = Number(child.stdout.toString());
  rig.world.sandbox.onClose(() => {
    if (processStartTime(pid) !== null) process.kill(pid, 'SIGKILL');
  });
  const database = new Database(rig.paths.database);
  database
    .prepare("UPDATE attempts SET state = 'running', pid = ?, pid_started_at = ? WHERE session_id = ?")
    .run(pid, processStartTime(pid), sessionId);
  database.close();
  return pid;
}

function leaveDaemonFile(name: string, pid: number, startedAt: string): string {
  const folder = join(rig.paths.state, 'daemons');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${name}.json`);
  const own = { pid, pid_started_at: startedAt, boot_id: readFileSync(BOOT, 'utf8').trim() };
  const where = { url: 'http://127.0.0.1:8765', database: rig.paths.database, token_file: null };
  writeFileSync(path, JSON.stringify({ ...own, ...where, instance_id: name, version: '0.1.0' }), {
    mode: 0o600,
  });
  return path;
}
const BOOT = '/proc/sys/kernel/random/boot_id';

it('mends whatever is ours and dead, says each, and all is well then', async () => {
  const id = await over(DONE_LEAD);
  const server = socketOf(id);
  const agent = leaveAgent(id);
  const socket = await leaveDeadSocket('agentorchestr-deadbeef');
  const folder = join(rig.paths.data, 'worktrees/project/feedface');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(rig.paths.database, 0o644);
  const daemon = leaveDaemonFile('gone', agent, 'another start');
  const living = leaveDaemonFile('here', process.pid, processStartTime(process.pid) ?? '');

  const { code, stdout } = await rig.run(['--doctor', '--fix', '--yes', '--json'], { env: TERMINAL });
  const { fixed } = JSON.parse(stdout) as { fixed: { found: string; fix: string; problem: string | null }[] };
  expect(fixed.filter(({ problem }) => problem !== null)).toEqual([]);
  // Which socket is looked at first is a matter of a random name.
  expect(fixed.map(({ fix }) => fix).sort()).toEqual([
    'close it to others',
    'end the process',
    'end the tmux server',
    'remove the empty folder',
    'remove the file',
    'remove the socket',
  ]);
  expect(code).toBe(0);
  expect(await alive(server)).toBe('no');
  expect([server, socket, folder, daemon, living].map((path) => existsSync(path))).toEqual([
    ...[false, false, false, false],
    true,
  ]);
  expect(processStartTime(agent)).toBe(null);
  expect(statSync(rig.paths.database).mode & 0o777).toBe(0o600);
  rmSync(living);
  expect((await check(rig)).troubles).toEqual([]);
});

it('leaves to the person what can be gone on with, may hold work, or is of somebody else', async () => {
  const failed = await over(FAILED_LEAD);
  const agent = leaveAgent(failed);
  const left = await crashed();
  const stranger = startServer('agentorchestr-deadbeef');
  const tree = join(rig.paths.data, 'worktrees/project/feedface/w01');
  mkdirSync(join(tree, '..'), { recursive: true, mode: 0o700 });
  rig.repo.git('worktree', 'add', '--detach', '--quiet', tree);
  const lost = join(rig.paths.data, 'worktrees/project/feedface/w02');
  mkdirSync(lost, { mode: 0o700 });

  const before = await check(rig);
  const world = () => listing(rig.world.sandbox.root, ['tmp', 's']).filter((line) => !line.startsWith('s/'));
  const files = world();
  const { code, stdout } = await rig.run(['--doctor', '--fix', '--yes', '--json'], { env: TERMINAL });
  const after = JSON.parse(stdout) as { fixed: unknown[]; checks: Row[] };
  expect(code).toBe(0);
  expect(after.fixed).toEqual([]);
  expect(troublesOf(after.checks)).toEqual(before.troubles);
  expect(world()).toEqual(files);
  expect(processStartTime(agent)).not.toBe(null);
  for (const socket of [socketOf(failed), socketOf(left), stranger]) expect(await alive(socket)).toBe('yes');
});

it('keeps the panes of a session that is done while somebody looks at them', async () => {
  const id = await over(DONE_LEAD);
  // At its end a session lets go of whoever looks.
  const { pid, pid_started_at: startedAt } = rig.control(id);
  await until(() => processStartTime(pid) !== startedAt, 'the end of the supervisor', 60_000);
  const viewer = spawnSync(
    'tmux',
    ['-L', 'viewer', '-f', '/dev/null', 'new-session', '-d', `tmux -S ${socketOf(id)} attach`],
    { env: { ...rig.env, TMUX: undefined } },
  );
  expect(viewer.status).toBe(0);
  rig.world.sandbox.onClose(async () => {
    await killServer({ socketName: 'viewer', env: rig.env });
  });
  const clients = () =>
    execFileSync('tmux', ['-S', socketOf(id), 'list-clients'], { env: rig.env, encoding: 'utf8' });
  await until(() => clients() !== '', 'somebody who looks');
  const { stdout } = await rig.run(['--doctor', '--fix', '--yes', '--json'], { env: TERMINAL });
  expect(JSON.parse(stdout)).toMatchObject({ fixed: [] });
  expect(await alive(socketOf(id))).toBe('yes');
});

it('asks, and cannot where nobody is there', async () => {
  const socket = await leaveDeadSocket('agentorchestr-deadbeef');
  const { code, stderr } = await rig.run(['--doctor', '--fix']);
  expect(code).not.toBe(0);
  expect(stderr).toMatch(/^error: --fix asks before it removes anything, and cannot ask here\nhint: /);
  expect(existsSync(socket)).toBe(true);
  expect((await rig.run(['--fix', '--goal', 'x'])).stderr).toMatch(/^error: --fix is for --doctor\n/);
  const report = await words(rig);
  expect(report.stdout).toContain(`→ rm ${socket}`);
  rmSync(socket);
});
