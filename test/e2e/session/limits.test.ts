import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { processTree, signalProcess } from '../../../src/platform/process-tree.js';
import { SessionRig, SILENT_LEAD, type McpCaller } from '../../support/session-rig.js';

const SCRIPT = `${SILENT_LEAD}
workers:
  - name: stay
    contains: stay at it
    steps: [{ write: half.txt, content: half }, { say: half of it is there }, { silence: true }]
  - name: die
    contains: die of it
    steps: [{ crash: SIGKILL }]
  - name: on
    contains: then go on with the task
    steps: [{ write: rest.txt, content: rest }, { commit: rest }, { report_done: the rest is made }]
  - name: small
    contains: something small
    steps: [{ write: small.txt, content: small }, { commit: small }, { report_done: small is made }]
`;

let rig: SessionRig;
let lead: McpCaller;
const run = (worker: string) => rig.store.runs(rig.sessionId, worker).at(-1);
const row = (worker: string) => rig.store.worker(rig.sessionId, worker);
const ended = (worker_id: string) => lead.ok('wait_for_worker', { worker_id, timeout_s: 60 });
const spawn = async (task: string, more: Record<string, unknown> = {}) =>
  String((await lead.ok('spawn_worker', { task, ...more }))['worker_id']);
const notices = () =>
  rig.store.messages(rig.sessionId, 'lead').flatMap(({ kind, text }) => (kind === 'notice' ? [text] : []));

async function signal(worker: string, name: NodeJS.Signals): Promise<void> {
  const attempt = rig.store.attempts(rig.sessionId).findLast(({ worker_id: id }) => id === worker);
  for (const process of await processTree([attempt?.pid ?? 0])) signalProcess(process, name);
}

beforeAll(async () => {
  rig = new SessionRig();
  const limits = { stall_s: 2, max_workers: 3, total_workers: 3, spawns_per_minute: 100 };
  await rig.start(SCRIPT, { limits });
  lead = await rig.lead();
}, 120_000);
afterAll(() => rig.close(), 120_000);

describe('limits of a session in panes', () => {
  it('a worker whose time is up is interrupted and says so; its work stays, and it takes the next task', async () => {
    const worker = await spawn('stay at it', { timeout_s: 15 });
    expect(await ended(worker)).toMatchObject({
      state: 'failed',
      summary: 'it took longer than the 15 s that it was given',
    });
    expect(run(worker)?.state).toBe('timed_out');
    expect(existsSync(join(row(worker)?.worktree ?? '', 'half.txt'))).toBe(true);
    await lead.ok('send_to_worker', { worker_id: worker, message: 'something small' });
    expect(await ended(worker)).toMatchObject({ state: 'done', summary: 'small is made' });
  });

  it('a worker whose process dies is started again in its conversation, where its spawn asked for that', async () => {
    const worker = await spawn('die of it', { retries: 1 });
    expect(await ended(worker)).toMatchObject({ state: 'done', summary: 'the rest is made' });
    expect(run(worker)).toMatchObject({ attempts: 2, failed_attempts: 1 });
    const threads = rig.types(worker).filter((type) => type === 'thread.opened');
    expect(threads).toHaveLength(1);
  });

  it('a worker that stands still is told to lead and person, over the death of the supervisor, until it moves', async () => {
    const worker = await spawn('stay at it');
    await rig.event('its word', ({ type, worker_id: id }) => type === 'worker.working' && id === worker);
    await expect.poll(() => rig.screen(worker), { timeout: 30_000 }).toContain('half of it is there');
    await signal(worker, 'SIGSTOP');
    await expect.poll(() => run(worker)?.stalled_since ?? null, { timeout: 30_000 }).not.toBeNull();
    expect(notices().find((text) => text.startsWith(`${worker} `))).toMatch(
      /gives no sign for \d+ s: no output.*Its last line: /,
    );
    const attention = async () => (await rig.request('/api/status')).text();
    expect(await attention()).toContain('"kind":"stalled"');

    await rig.crash();
    await rig.takeUp();
    lead = await rig.lead();
    expect(await attention()).toContain('"kind":"stalled"');
    // Counted from the rows: a new supervisor gives no new workers.
    const refusal = async () => (await lead.call('spawn_worker', { task: 'something small' })).text;
    expect(await refusal()).toContain('limit reached: live workers (3 of 3)');

    await signal(worker, 'SIGCONT');
    rig.tmux('send-keys', '-t', rig.pane(worker), 'x');
    await rig.event('its moving', ({ type, worker_id: id }) => type === 'run.moved' && id === worker);
    await lead.ok('kill_worker', { worker_id: worker });
    expect(await attention()).not.toContain('stalled');
    expect(await refusal()).toContain('limit reached: workers of one session (3 of 3)');
  });
});
