import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SessionRig, SILENT_LEAD } from '../../support/session-rig.js';

let rig: SessionRig;
beforeEach(() => {
  rig = new SessionRig();
});
afterEach(() => rig.close(), 120_000);

const WORKER = `
workers:
  - name: task
    contains: write hello
    steps: [{ write: hello.txt, content: hello }, { commit: hello }, { report_done: hello is there }]
  - name: silent
    contains: stay at it
    steps: [{ silence: true }]
`;

const SPAWN_AND_END_TURN = `
lead:
  - name: start
    times: 1
    steps:
      - call: spawn_worker
        with: { task: write hello }
      - end: true
  - name: woken
    contains: News from your workers
    steps:
      - call: integrate_worker
        with: { worker_id: w01 }
        expect: { merged: true }
      - call: verify
        expect: { state: nothing_to_verify }
      - call: mark_goal_done
        with: { summary: hello integrated }
${WORKER}`;

describe('the life of a session', () => {
  it('wakes a lead that ended its turn when its worker is done, once, and ends done', async () => {
    await rig.start(SPAWN_AND_END_TURN);
    await rig.event('the end', (event) => event.type === 'session.ended');
    expect(rig.store.session(rig.sessionId)).toMatchObject({ state: 'done', summary: 'hello integrated' });
    const notices = rig.store.messages(rig.sessionId, 'lead').filter((message) => message.kind === 'notice');
    expect(notices.map(({ about, state, text }) => [about, state, text])).toEqual([
      ['w01', 'answered', 'w01 (implementer) reports done: hello is there'],
    ]);
    expect(rig.store.verifications(rig.sessionId).at(-1)).toMatchObject({
      state: 'passed',
      nothing_to_verify: true,
    });
    await rig.supervisorEnded();
    expect(rig.world.sandbox.processes().filter(({ command }) => !command.includes('tmux'))).toEqual([]);
  });

  it('is shown whole by the script for a team in the guide', async () => {
    const guide = readFileSync(join(import.meta.dirname, '../../../docs/guides/scripted-agent.md'), 'utf8');
    await rig.start(/```yaml\n(name: team\n.*?)```/s.exec(guide)?.[1] ?? '');
    await rig.event('the end', (event) => event.type === 'session.ended');
    const { state, integration_branch: branch } = rig.store.session(rig.sessionId) ?? {};
    expect([state, rig.repo.git('show', `${branch}:hello.txt`)]).toEqual(['done', 'hello']);
    await rig.supervisorEnded();
  });

  it('[37] keeps the tmux session with its first window and dead panes readable after the end', async () => {
    await rig.start(SPAWN_AND_END_TURN);
    await rig.supervisorEnded(90_000);
    const socket = rig.store.session(rig.sessionId)?.tmux_socket ?? '';
    const format = '#{session_name} #{window_name} #{pane_index} #{pane_id} #{pane_dead}';
    const panes = () =>
      execFileSync('tmux', ['-S', socket, 'list-panes', '-a', '-F', format], {
        env: rig.env,
        encoding: 'utf8',
      })
        .trim()
        .split('\n');
    await expect
      .poll(panes, { timeout: 10_000 })
      .toEqual([
        `agentorchestr-${rig.sessionId} agentorchestr 0 %0 1`,
        expect.stringMatching(new RegExp(`^agentorchestr-${rig.sessionId} agentorchestr 1 %\\d+ 1$`)),
      ]);
    const text = execFileSync('tmux', ['-S', socket, 'capture-pane', '-p', '-S', '-', '-t', '%0'], {
      env: rig.env,
      encoding: 'utf8',
    });
    expect(text).toContain('mark_goal_done');
  });

  it('[34] ends failed when the lead gives up', async () => {
    await rig.start('lead:\n  - steps: [{ call: mark_goal_failed, with: { reason: it cannot be done } }]\n');
    await rig.supervisorEnded();
    expect(rig.store.session(rig.sessionId)).toMatchObject({
      state: 'failed',
      verdict: 'failed',
      summary: 'it cannot be done',
    });
  });

  it('asks a lead that ends its turn with nothing running to go on, twice, then waits for the person', async () => {
    await rig.start('lead:\n  - steps: [{ say: I am lost }, { end: true }]\n');
    await rig.event('waiting lead', (event) => event.type === 'worker.waiting' && event.worker_id === 'lead');
    const nudges = rig.store.messages(rig.sessionId, 'lead').filter((message) => message.kind === 'nudge');
    expect(nudges.map((message) => message.state)).toEqual(['answered', 'answered']);
    expect(rig.store.session(rig.sessionId)?.state).toBe('active');
  });

  it('starts a lead that died once more in its own conversation, and fails the session at the second death', async () => {
    await rig.start(`
lead:
  - name: start
    times: 1
    steps: [{ call: spawn_worker, with: { task: stay at it } }, { crash: SIGKILL }]
  - name: back
    contains: Your process ended and was started again
    steps: [{ say: I am back }, { crash: 7 }]
${WORKER}`);
    await rig.supervisorEnded(90_000);
    expect(rig.store.session(rig.sessionId)).toMatchObject({
      state: 'failed',
      reason: expect.stringMatching(/^the lead ended again \(status 7\): /),
    });
    const exits = rig
      .events()
      .filter((event) => event.type === 'worker.exited' && event.worker_id === 'lead');
    expect(exits.map((event) => (event.data as { status: number }).status)).toEqual([137, 7]);
    const second = rig.store.messages(rig.sessionId, 'lead').filter((message) => message.kind === 'task')[1];
    expect(second?.text).toContain('- w01 implementer');
    expect(rig.store.attempts(rig.sessionId).filter((attempt) => attempt.worker_id === 'lead')).toHaveLength(
      2,
    );
    // A launcher may stay two seconds more.
    const left = () => rig.world.sandbox.processes().filter(({ command }) => !command.includes('tmux'));
    await expect.poll(left, { timeout: 20_000 }).toEqual([]);
  });

  it('pauses when the supervisor is asked to stop: agents ended, runs interrupted, worktrees kept', async () => {
    await rig.start(`${SILENT_LEAD}${WORKER}`);
    const lead = await rig.lead();
    const { worktree } = await lead.ok('spawn_worker', { task: 'stay at it' });
    await rig.event('its turn', (event) => event.type === 'message.started' && event.worker_id === 'w01');
    process.kill(rig.control.pid, 'SIGTERM');
    await rig.supervisorEnded();
    expect(rig.store.session(rig.sessionId)).toMatchObject({
      state: 'paused',
      reason: 'the supervisor was asked to stop',
    });
    expect(rig.store.runs(rig.sessionId).map(({ worker_id, state }) => [worker_id, state])).toEqual([
      ['lead', 'interrupted'],
      ['w01', 'interrupted'],
    ]);
    expect(existsSync(String(worktree))).toBe(true);
    expect(rig.world.sandbox.processes().filter(({ command }) => !command.includes('tmux'))).toEqual([]);
  });

  it('pauses a lead that waits for its worker: it hears nothing of the end, and both go on afterwards', async () => {
    await rig.start(`
lead:
  - name: start
    times: 1
    steps:
      - { call: spawn_worker, with: { task: stay at it } }
      - { call: wait_for_worker, with: { worker_id: w01 } }
      - { call: mark_goal_failed, with: { reason: the worker was interrupted } }
  - name: resumed
    contains: goes on
    steps: [{ silence: true }]
${WORKER}`);
    await rig.event('its turn', (event) => event.type === 'message.started' && event.worker_id === 'w01');
    process.kill(rig.control.pid, 'SIGTERM');
    await rig.supervisorEnded();
    expect(rig.store.session(rig.sessionId)).toMatchObject({ state: 'paused', verdict: null });
    const told = rig.store.messages(rig.sessionId, 'lead').filter(({ kind }) => kind === 'notice');
    expect(told.map(({ state }) => state)).not.toContain('submitted');
    await rig.takeUp();
    let begun = 0;
    const again = await rig.event(
      'its second turn',
      ({ type, worker_id }) => worker_id === 'w01' && type === 'worker.working' && ++begun > 1,
    );
    expect(again.seq).toBeGreaterThan(
      rig.events().find(({ type }) => type === 'session.resumed')?.seq ?? Infinity,
    );
  });

  it('records a killed tmux server, marks every agent lost, and pauses with nothing left running', async () => {
    await rig.start(`${SILENT_LEAD}${WORKER}`);
    const lead = await rig.lead();
    await lead.ok('spawn_worker', { task: 'stay at it' });
    await rig.event('its turn', (event) => event.type === 'message.started' && event.worker_id === 'w01');
    const [server] = rig.world.sandbox
      .processes()
      .filter(({ command }) => /^tmux.*new-session/.test(command) && !/ -C /.test(command));
    const socket = rig.store.session(rig.sessionId)?.tmux_socket ?? '';
    const pid = Number(
      execFileSync('tmux', ['-S', socket, 'display-message', '-p', '#{pid}'], {
        env: rig.env,
        encoding: 'utf8',
      }),
    );
    process.kill(server?.pid === pid ? server.pid : pid, 'SIGKILL');
    await rig.supervisorEnded();
    expect(rig.types()).toContain('tmux.lost');
    expect(rig.store.session(rig.sessionId)).toMatchObject({
      state: 'paused',
      reason: expect.stringContaining('tmux server ended'),
    });
    expect(rig.store.workers(rig.sessionId).map(({ state }) => state)).toEqual(['lost', 'lost']);
    expect(await rig.world.sandbox.left()).toEqual([]);
  });

  it('pauses when a person closes the pane of the lead', async () => {
    await rig.start(`${SILENT_LEAD}${WORKER}`);
    await (await rig.lead()).ok('spawn_worker', { task: 'stay at it' });
    await rig.event('its turn', (event) => event.type === 'message.started' && event.worker_id === 'w01');
    const socket = rig.store.session(rig.sessionId)?.tmux_socket ?? '';
    execFileSync('tmux', ['-S', socket, 'kill-pane', '-t', '%0'], { env: rig.env });
    await rig.supervisorEnded();
    expect(rig.store.session(rig.sessionId)).toMatchObject({
      state: 'paused',
      reason: expect.stringContaining('pane was closed'),
    });
    expect(rig.world.sandbox.processes().filter(({ command }) => !command.includes('tmux'))).toEqual([]);
  });

  it('streams stored events by seq: from a cursor, after Last-Event-ID, never twice, and refuses a cursor past the head', async () => {
    await rig.start(SILENT_LEAD);
    await rig.event('its turn', (event) => event.type === 'message.started');
    const all = rig.events().map((event) => event.seq);
    const first = await readIds('/events?after=0', all.length);
    expect(first).toEqual(all);
    const middle = all[3] ?? 0;
    expect(await readIds('/events?after=0', all.length - 4, { 'last-event-id': String(middle) })).toEqual(
      all.slice(4),
    );
    const bad = await rig.request('/events?after=999999');
    expect([bad.status, await bad.json()]).toEqual([
      422,
      expect.objectContaining({ code: 'INVALID_INPUT', detail: expect.stringContaining('999999') }),
    ]);
    const head = (await rig.request('/api/status')).json() as Promise<{ state: string }>;
    expect(await head).toMatchObject({
      session_id: rig.sessionId,
      state: 'active',
      workers: [],
      goal: 'the goal of this test',
    });
    expect(
      (
        await rig.request('/api/status', {
          method: 'POST',
          body: '{}',
          headers: { 'content-type': 'application/json' },
        })
      ).status,
    ).toBe(405);
    expect((await rig.request('/api/no-such-thing')).status).toBe(404);
  });
});

async function readIds(path: string, count: number, headers: Record<string, string> = {}): Promise<number[]> {
  const stop = new AbortController();
  const response = await rig.request(path, { headers, signal: stop.signal });
  const ids: number[] = [];
  let text = '';
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString('utf8');
    ids.splice(0, ids.length, ...[...text.matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1])));
    if (ids.length >= count) break;
  }
  stop.abort();
  return ids;
}
