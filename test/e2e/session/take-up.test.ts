import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { killServer } from '../../../src/backends/tmux/attach.js';
import { isSameProcessAlive } from '../../../src/platform/identity.js';
import { SessionRig, SILENT_LEAD } from '../../support/session-rig.js';
import { until } from '../../support/tmux.js';

let rig: SessionRig;
beforeEach(() => {
  rig = new SessionRig();
});
afterEach(() => rig.close(), 120_000);

const SCRIPT = `${SILENT_LEAD}
workers:
  - name: flags
    contains: use the flag
    steps: [{ run: 'until test -e {{cwd}}/../go; do sleep 0.1; done' }, { flag: done, summary: flagged }, { end: true }]
  - name: forgets
    contains: say nothing
    steps: [{ run: 'until test -e {{cwd}}/../go; do sleep 0.1; done' }, { end: true }]
  - name: asked
    after: forgets
    steps: [{ call: report_done, with: { summary: nothing to do }, allow_error: true }, { call: report_done, with: { summary: nothing to do } }]
  - name: exits
    contains: leave
    steps: [{ run: 'until test -e {{cwd}}/../go; do sleep 0.1; done' }, { exit: 7 }]
  - name: slow
    contains: stay at it
    steps: [{ silence: true }]
`;

/** Session with the lead in its turn, and workers in theirs; lets them go on once the supervisor is dead. */
async function started(...tasks: string[]): Promise<{ workers: string[]; letGo(): void }> {
  await rig.start(SCRIPT, {
    verify_commands: [{ label: 'test', command: 'sleep 300', source: '--verify' }],
  });
  const lead = await rig.lead();
  const workers: string[] = [];
  let worktree = '';
  for (const task of tasks) {
    const spawned = await lead.ok('spawn_worker', { task });
    worktree = String(spawned['worktree']);
    const id = String(spawned['worker_id']);
    await rig.event(
      `the turn of ${id}`,
      (event) => event.type === 'message.started' && event.worker_id === id,
    );
    workers.push(id);
  }
  await rig.event(
    'the turn of the lead',
    (event) => event.type === 'message.started' && event.worker_id === 'lead',
  );
  return { workers, letGo: () => void execFileSync('touch', [join(worktree, '..', 'go')]) };
}

function transcriptOf(workerId: string): string {
  const folder = join(rig.directory, 'workers', workerId, 'conversations');
  const [name] = readdirSync(folder).filter((file) => file.endsWith('.jsonl'));
  return name === undefined ? '' : readFileSync(join(folder, name), 'utf8');
}

const count = () => rig.events().length;
const run = (workerId: string) => rig.store.runs(rig.sessionId, workerId).at(-1);
const socket = () => rig.store.session(rig.sessionId)?.tmux_socket ?? '';
const tmux = (...args: string[]) =>
  execFileSync('tmux', ['-S', socket(), ...args], { env: rig.env, encoding: 'utf8' });
const restartNotices = () =>
  rig.store
    .messages(rig.sessionId, 'lead')
    .filter(({ text }) => text.includes('the supervisor was restarted'));

describe('taking a session up', () => {
  it('keeps port, tokens and MCP connections; agents go on in their processes, and the lead is told once', async () => {
    await started('stay at it');
    const before = rig.control;
    const lead = await rig.lead();
    await lead.ok('list_workers');
    const [agent] = rig.store.attempts(rig.sessionId).filter(({ worker_id: id }) => id === 'w01');
    await rig.crash();
    expect(await rig.takeUp()).toMatchObject({
      session_id: rig.sessionId,
      base: expect.stringContaining('base main@') as string,
    });
    const { pid, port, client_token: token } = rig.control;
    expect([port, token]).toEqual([before.port, before.client_token]);
    expect(pid).not.toBe(before.pid);
    expect(rig.store.session(rig.sessionId)?.state).toBe('active');
    expect(rig.events().findLast(({ type }) => type === 'supervisor.recovered')?.data).toEqual({
      adopted: ['lead', 'w01'],
      lost: [],
    });
    const listed = await lead.call('list_workers');
    expect(listed.answer).toMatchObject({ workers: [{ worker_id: 'w01', state: 'running' }] });
    expect(restartNotices().map(({ state, detail }) => [state, detail])).toEqual([
      ['submitted', 'tool result'],
    ]);
    expect(restartNotices()[0]?.text).toContain('w01 implementer (agentorchestr/');
    expect(rig.store.attempts(rig.sessionId).find(({ worker_id: id }) => id === 'w01')).toEqual(agent);
    expect(await lead.ok('kill_worker', { worker_id: 'w01' })).toMatchObject({ killed: true });
    expect(run('w01')?.state).toBe('cancelled');
  });

  it('is refused while a supervisor lives', async () => {
    await started();
    await expect(rig.takeUp()).rejects.toMatchObject({ code: 'SESSION_OWNED' });
  });

  it('makes up for the hooks of a turn that ended meanwhile: by its flag, or by asking for the report', async () => {
    const { letGo } = await started('use the flag', 'say nothing');
    await rig.crash();
    letGo();
    await until(
      () => ['w01', 'w02'].every((id) => transcriptOf(id).includes('"end_turn"')),
      'both turns over',
    );
    await rig.takeUp();
    await rig.event('the end of w01', (event) => event.type === 'run.succeeded' && event.worker_id === 'w01');
    expect(run('w01')).toMatchObject({ state: 'succeeded', summary: 'flagged', evidence: 'flag' });
    await rig.event('the end of w02', (event) => event.type === 'run.succeeded' && event.worker_id === 'w02');
    expect(run('w02')).toMatchObject({ summary: 'nothing to do', nudges: 1 });
    const answered = rig.events().filter(({ type }) => type === 'message.answered');
    expect(
      answered
        .slice(0, 2)
        .map(({ worker_id: id, evidence }) => `${id} ${evidence}`)
        .toSorted(),
    ).toEqual(['w01 transcript', 'w02 transcript']);
  });

  it('tells a lead whose turn failed meanwhile, in the composer that it stands at', async () => {
    const go = rig.world.place('go');
    await rig.start(`
settings: { mcp_patience_ms: 200 }
lead:
  - name: told
    contains: the supervisor was restarted
    steps: [{ call: mark_goal_failed, with: { reason: I was told } }]
  - name: goal
    steps: [{ run: 'until test -e ${go}; do sleep 0.1; done' }, { call: list_workers }]
`);
    const started = await rig.event('its pane', ({ type }) => type === 'worker.started');
    const { pane_id: pane } = started.data as { pane_id: string };
    await rig.event('the turn of the lead', ({ type }) => type === 'message.started');
    await rig.crash();
    mkdirSync(join(go, '..'), { recursive: true });
    writeFileSync(go, '');
    await until(() => tmux('capture-pane', '-p', '-t', pane).includes('turn failed'), 'the failure');
    await rig.takeUp();
    const ended = await rig.event('the end', ({ type }) => type === 'session.ended');
    expect(ended.data).toMatchObject({ summary: 'I was told' });
  });

  it('[74] records agents that ended meanwhile, each by its evidence, tells the lead, and has their tasks done anew', async () => {
    const { letGo } = await started('leave', 'stay at it');
    await rig.crash();
    letGo();
    tmux('kill-pane', '-t', rig.store.worker(rig.sessionId, 'w02')?.pane_id ?? '');
    await until(
      () => readdirSync(join(rig.directory, 'workers/w01')).some((name) => name.endsWith('.exit')),
      'the exit',
    );
    await rig.takeUp();
    expect(rig.store.worker(rig.sessionId, 'w01')).toMatchObject({ state: 'exited', exit_status: 7 });
    expect(run('w01')).toMatchObject({ state: 'failed', failure_code: 'AGENT_EXITED' });
    expect(rig.store.worker(rig.sessionId, 'w02')?.state).toMatch(/exited|lost/);
    expect(['failed', 'interrupted']).toContain(run('w02')?.state);
    expect(rig.events().findLast(({ type }) => type === 'supervisor.recovered')?.data).toEqual({
      adopted: ['lead'],
      lost: ['w01', 'w02'],
    });
    expect(restartNotices()[0]?.text).toMatch(
      /w01 implementer \(\S+\): exited \(meanwhile; it was running\)/,
    );
    expect(await (await rig.lead()).ok('spawn_worker', { task: 'leave' })).toMatchObject({
      worker_id: 'w03',
    });
  });

  it('ends a verification that was running as interrupted, with what it left; the next one runs anew', async () => {
    await started();
    const lead = await rig.lead();
    await expect(
      Promise.race([lead.call('verify'), rig.event('verify', ({ type }) => type === 'verify.started')]),
    ).resolves.toBeDefined();
    const sleeping = () => rig.world.sandbox.processes().filter(({ command }) => command === 'sleep 300');
    await until(() => sleeping().length > 0, 'the command runs');
    const [first] = rig.store.verifications(rig.sessionId);
    await rig.crash();
    expect(sleeping()).toHaveLength(1);
    await rig.takeUp();
    expect(sleeping()).toEqual([]);
    expect(rig.store.verification(first?.verify_id ?? '')).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('interrupted') as string,
    });
    const worktrees = readdirSync(join(rig.paths.data, 'worktrees/project', rig.sessionId));
    expect(worktrees).toEqual(['integration']);
    void lead.call('verify').catch(() => undefined);
    await until(() => sleeping().length > 0, 'the next one runs');
    expect(rig.store.verifications(rig.sessionId)).toHaveLength(2);
  });

  it('finds the session where it is, whatever the environment says now', async () => {
    await started('stay at it');
    await rig.crash();
    const env = {
      ...rig.env,
      TMUX_TMPDIR: rig.world.sandbox.folder('other'),
      AGENTORCHESTR_TMUX_SOCKET: 'other',
    };
    await rig.takeUp({}, env);
    expect(rig.events().findLast(({ type }) => type === 'supervisor.recovered')?.data).toMatchObject({
      lost: [],
    });
    expect(readdirSync(join(rig.world.sandbox.root, 'other'))).toEqual([]);
  });

  it('ends a session whose verdict was given', async () => {
    await rig.start(
      'lead:\n  - steps: [{ call: mark_goal_failed, with: { reason: no } }, { silence: true }]\n',
    );
    await rig.event('the verdict', ({ type }) => type === 'goal.failed');
    await rig.crash();
    if (rig.store.session(rig.sessionId)?.state === 'active') await rig.takeUp();
    rig.interruptLead();
    await rig.supervisorEnded();
    expect(rig.store.session(rig.sessionId)).toMatchObject({ state: 'failed', summary: 'no' });
  });
});

describe('what cannot be taken up is left as it is', () => {
  async function expectRefused(problem: RegExp): Promise<void> {
    const before = count();
    await expect(rig.takeUp()).rejects.toMatchObject({
      code: 'SESSION_NOT_RESUMABLE',
      message: expect.stringMatching(problem) as string,
    });
    expect(count()).toBe(before);
    expect(rig.store.session(rig.sessionId)?.state).toBe('active');
    const owner = rig.store.lease(rig.sessionId);
    expect(owner !== null && isSameProcessAlive(owner)).toBe(false);
  }

  it.each(['session.created', 'supervisor.started', 'session.updated', 'branch.created'])(
    'a session whose start was not over: killed at %s',
    async (type) => {
      const stop = rig.store.subscribe(0, (event) => {
        const owner = rig.store.lease(rig.sessionId);
        if (event.type === type && owner !== null && isSameProcessAlive(owner))
          process.kill(owner.pid, 'SIGKILL');
      });
      await expect(rig.start(SCRIPT)).rejects.toMatchObject({ code: 'SUPERVISOR_FAILED' });
      stop();
      const lead = rig.store.worker(rig.sessionId, 'lead');
      if (lead === null) await expectRefused(/it was not started to the end|nothing says on which port/);
      await endLeftAgents();
    },
  );
});

/** What a session that nobody takes up leaves running. */
async function endLeftAgents(): Promise<void> {
  await killServer({ socketName: `agentorchestr-${rig.sessionId}`, env: rig.env });
}
