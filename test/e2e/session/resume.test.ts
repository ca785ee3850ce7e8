import { existsSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isAlive } from '../../../src/platform/process-tree.js';
import { isSameProcessAlive } from '../../../src/platform/identity.js';
import { SessionRig, type McpCaller } from '../../support/session-rig.js';
import { until } from '../../support/tmux.js';

let rig: SessionRig;
beforeEach(() => {
  rig = new SessionRig();
});
afterEach(() => rig.close(), 120_000);

const SCRIPT = `
lead:
  - name: begin
    times: 1
    steps: [{ silence: true }]
  - name: back
    steps: [{ silence: true }]
workers:
  - name: goes on
    contains: go on with the task
    steps: [{ write: page.md, content: whole }, { commit: whole }, { call: report_done, with: { summary: the page is whole } }]
  - name: slow
    times: 1
    contains: write the page
    steps: [{ write: page.md, content: half }, { commit: half }, { silence: true }]
  - name: anew
    contains: write the page
    steps: [{ write: page.md, content: whole }, { commit: whole }, { call: report_done, with: { summary: the page is whole } }]
  - name: later
    contains: afterwards
    steps: [{ call: report_done, with: { summary: was quick }, allow_error: true }, { call: report_done, with: { summary: was quick } }]
  - name: other
    contains: quick
    steps: [{ write: quick.md, content: quick }, { commit: quick }, { call: report_done, with: { summary: was quick } }]
`;

const row = () => rig.store.session(rig.sessionId);
const socket = () => row()?.tmux_socket ?? '';
const attempts = (workerId: string) =>
  rig.store.attempts(rig.sessionId).filter(({ worker_id: id }) => id === workerId);
const goals = () =>
  rig.store.messages(rig.sessionId, 'lead').filter(({ text }) => text.includes('the goal of this test'));

function processes(): { pid: number; pidStartedAt: string }[] {
  return rig.store
    .attempts(rig.sessionId)
    .flatMap(({ pid, pid_started_at: pidStartedAt }) =>
      pid === null || pidStartedAt === null ? [] : [{ pid, pidStartedAt }],
    )
    .filter(isAlive);
}

/** w01 is done and integrated, w02 has a commit and is in its turn, with another task waiting behind it. */
async function atWork(plan: { backend?: 'headless' } = {}): Promise<McpCaller> {
  await rig.start(SCRIPT);
  const lead = await rig.lead();
  await lead.ok('spawn_worker', { task: 'quick', ...plan });
  await lead.ok('wait_for_worker', { worker_id: 'w01' });
  await lead.ok('integrate_worker', { worker_id: 'w01' });
  await lead.ok('spawn_worker', { task: 'write the page', ...plan });
  await until(
    () => rig.repo.git('log', '--branches', '--format=%s').split('\n').includes('half'),
    'half of the page',
  );
  await lead.ok('send_to_worker', { worker_id: 'w02', message: 'quick, afterwards' });
  await lead.ok('report_progress', { message: 'half way' });
  return lead;
}

const signal = (pid: number, name: NodeJS.Signals) => process.kill(pid, name);
const serverPid = () => Number(rig.tmux('display-message', '-p', '#{pid}'));
const gone = (pid: number) => until(() => !existsSync(`/proc/${pid}`), `the end of ${pid}`);

async function killServerOf(): Promise<void> {
  const pid = serverPid();
  signal(pid, 'SIGKILL');
  await gone(pid);
}

/** Everything at once, and what was in the temporary folders. */
async function powerCut(): Promise<void> {
  const agents = processes();
  const pid = serverPid();
  signal(rig.control.pid, 'SIGKILL');
  signal(pid, 'SIGKILL');
  for (const agent of agents) signal(agent.pid, 'SIGKILL');
  await rig.supervisorEnded();
  await gone(pid);
  rmSync(rig.directory, { recursive: true });
  rmSync(dirname(socket()), { recursive: true });
}

const WAYS: Readonly<Record<string, () => Promise<void>>> = {
  'is told to end (TERM)': async () => {
    signal(rig.control.pid, 'SIGTERM');
    await rig.supervisorEnded();
  },
  'loses its tmux server (-9)': async () => {
    await killServerOf();
    await rig.supervisorEnded();
  },
  'loses its supervisor and its tmux server (-9)': async () => {
    await rig.crash();
    await killServerOf();
  },
  'loses everything: the machine was switched off': powerCut,
};

/** The end of w02's task and of what waited behind it, whoever did it. */
async function finish(): Promise<void> {
  const lead = await rig.lead();
  const ran = () => rig.store.runs(rig.sessionId, 'w02').filter(({ state }) => state === 'succeeded');
  await expect
    .poll(() => ran().map(({ summary }) => summary), { timeout: 30_000 })
    .toEqual(['the page is whole', 'was quick']);
  await lead.ok('integrate_worker', { worker_id: 'w02' });
  const branch = row()?.integration_branch ?? '';
  expect(rig.repo.git('show', `${branch}:page.md`)).toBe('whole');
  // Numbers go on.
  expect(await lead.ok('spawn_worker', { task: 'quick' })).toMatchObject({ worker_id: 'w03' });
}

function expectOneOfEach(): void {
  const alive = processes().map(({ pid }) => pid);
  const owners = rig.store
    .attempts(rig.sessionId)
    .filter(({ pid }) => pid !== null && alive.includes(pid))
    .map(({ worker_id: id }) => id);
  expect(new Set(owners).size).toBe(owners.length);
}

describe('a session that', () => {
  it.each(Object.entries(WAYS))('[73] %s goes on where it was', async (_name, interrupt) => {
    await atWork();
    await interrupt();
    expect(processes()).toEqual([]);
    await rig.takeUp();
    expect(row()).toMatchObject({ state: 'active', reason: null });
    await finish();
    expectOneOfEach();
    const told = rig.store.messages(rig.sessionId, 'lead').findLast(({ kind }) => kind === 'task');
    expect(told?.text).toContain('w01 implementer');
    expect(told?.text).toContain('Your last progress note: half way');
    // Asked again only where the agent's own memory was lost with the machine.
    expect(goals().filter(({ sender }) => sender === 'person')).toHaveLength(1);
    expect(attempts('w01')).toHaveLength(1);
  });

  it('[73] loses everything has workers without a terminal that go on as well', async () => {
    await atWork({ backend: 'headless' });
    await powerCut();
    await rig.takeUp();
    await finish();
    expectOneOfEach();
  });

  it('[73] loses its supervisor and its lead (-9) goes on with a new lead; its workers never noticed', async () => {
    await atWork();
    const [worker] = attempts('w02');
    await rig.crash();
    signal(attempts('lead')[0]?.pid ?? 0, 'SIGKILL');
    await until(
      () => readdirSync(join(rig.directory, 'workers/lead')).some((name) => name.endsWith('.exit')),
      'its end',
    );
    await rig.takeUp();
    expect(rig.store.worker(rig.sessionId, 'lead')?.state).not.toBe('exited');
    expect(attempts('lead')).toHaveLength(2);
    expect(attempts('w02')).toEqual([worker]);
  });

  it('was given up by its lead goes on with what the person adds', async () => {
    const lead = await atWork();
    await lead.ok('mark_goal_failed', { reason: 'too hard' });
    rig.interruptLead();
    await rig.supervisorEnded();
    await rig.takeUp({ addition: 'make it easy' });
    const told = rig.store.messages(rig.sessionId, 'lead').findLast(({ kind }) => kind === 'task');
    expect(told?.text).toMatch(
      /You had given the goal up \(too hard\)[^]*The person adds to the goal:\nmake it easy/,
    );
    expect(row()).toMatchObject({ state: 'active', verdict: null });
    // Its workers are the lead's again, in worktrees that were removed meanwhile.
    await (await rig.lead()).ok('send_to_worker', { worker_id: 'w01', message: 'quick, afterwards' });
    await expect
      .poll(() => rig.store.runs(rig.sessionId, 'w01').at(-1), { timeout: 30_000 })
      .toMatchObject({ number: 2, state: 'succeeded' });
  });

  it('runs on gets what the person adds as a message to its lead', async () => {
    await atWork();
    await rig.crash();
    await rig.takeUp({ addition: 'and a title' });
    const added = rig.store
      .messages(rig.sessionId, 'lead')
      .filter(({ text }) => text.endsWith('and a title'));
    expect(added).toMatchObject([{ sender: 'person', kind: 'follow_up' }]);
    expect(attempts('lead')).toHaveLength(1);
  });
});

describe('a port that somebody else has', () => {
  let thief: Server;
  afterEach(() => new Promise((resolve) => thief.close(resolve)));

  it('is given up with every token; the agents are started anew, each in its conversation', async () => {
    await atWork();
    const { port } = rig.control;
    const old = rig.token({ scope: 'lead', workerId: 'lead' });
    await rig.crash();
    thief = createServer((connection) => connection.destroy());
    const listens = () =>
      new Promise<boolean>((resolve) => {
        thief.once('error', () => resolve(false));
        thief.listen(port, '127.0.0.1', () => resolve(true));
      });
    await until(listens, 'the port is taken');
    await rig.takeUp();
    expect(rig.control.port).not.toBe(port);
    expect((await rig.request('/operations/list_workers', { method: 'POST', token: old })).status).toBe(401);
    await finish();
    expectOneOfEach();
    const opened = rig.types('w02').filter((type) => type === 'thread.opened');
    expect(opened).toHaveLength(1);
  });
});

describe('a supervisor that is killed while it takes a session up', () => {
  it.each(['session.resumed', 'run.queued', 'worker.started'])(
    'at %s: the next one goes on, and nothing is done twice',
    async (type) => {
      await atWork();
      signal(rig.control.pid, 'SIGTERM');
      await rig.supervisorEnded();
      const head = rig.store.head();
      let killed = false;
      const stop = rig.store.subscribe(head, (event) => {
        const owner = rig.store.lease(rig.sessionId);
        if (killed || event.type !== type || owner === null || !isSameProcessAlive(owner)) return;
        killed = true;
        signal(owner.pid, 'SIGKILL');
      });
      await rig.takeUp().catch(() => undefined);
      await until(() => killed, type);
      stop();
      await rig.supervisorEnded();
      await until(() => {
        const owner = rig.store.lease(rig.sessionId);
        return owner === null || !isSameProcessAlive(owner);
      }, 'the end of the supervisor');
      await rig.takeUp();
      await finish();
      expectOneOfEach();
      expect(rig.store.runs(rig.sessionId, 'w02')).toHaveLength(4);
    },
  );
});
