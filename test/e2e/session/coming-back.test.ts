import { rmSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { SessionRig, SILENT_LEAD, type McpCaller } from '../../support/session-rig.js';

const SCRIPT = `${SILENT_LEAD}
workers:
  - name: make
    match: make (?<what>\\w+)
    steps:
      - write: '{{what}}.txt'
        content: made
      - commit: '{{what}}'
      - report_done: '{{what}} is made'
  - name: die
    contains: die of it
    steps: [{ crash: SIGKILL }]
  - name: stay
    contains: stay at it
    steps: [{ silence: true }]
`;

let rig: SessionRig;
let lead: McpCaller;
afterEach(() => rig.close(), 120_000);

async function begin(backend: 'tmux' | 'headless', max_workers = 8): Promise<void> {
  rig = new SessionRig();
  await rig.start(SCRIPT, { worker_backend: backend, limits: { max_workers, spawns_per_minute: 100 } });
  lead = await rig.lead();
}
const spawn = async (task: string) => String((await lead.ok('spawn_worker', { task }))['worker_id']);
const send = (worker_id: string, message: string) => lead.ok('send_to_worker', { worker_id, message });
const ended = (worker_id: string) => lead.ok('wait_for_worker', { worker_id, timeout_s: 60 });
const row = (worker: string) => rig.store.worker(rig.sessionId, worker);
const count = (type: string, worker: string) => rig.types(worker).filter((one) => one === type).length;

describe.each(['tmux', 'headless'] as const)('a worker that is over (%s)', (backend) => {
  it('comes back for two messages at once, in one process and its own conversation, and does each once', async () => {
    await begin(backend);
    const worker = await spawn('die of it');
    expect(await ended(worker)).toMatchObject({ state: 'exited' });
    await Promise.all([send(worker, 'make one'), send(worker, 'make two')]);
    const done = () => rig.store.runs(rig.sessionId, worker).filter(({ state }) => state === 'succeeded');
    await expect.poll(() => done().length, { timeout: 60_000 }).toBe(2);
    expect(
      done()
        .map(({ summary }) => summary)
        .sort(),
    ).toEqual(['one is made', 'two is made']);
    expect(count('thread.opened', worker)).toBe(1);
    // Without a terminal each turn is a process; in a pane the one that came back stays.
    expect(count('worker.started', worker)).toBe(backend === 'tmux' ? 2 : 3);
    const branch = row(worker)?.branch ?? '';
    expect(rig.repo.git('log', '--format=%s', branch).split('\n').sort()).toEqual(
      expect.arrayContaining(['one', 'two']),
    );
  });

  it('comes back after it was killed, if somebody asks for it', async () => {
    await begin(backend);
    const worker = await spawn('stay at it');
    await rig.event('its turn', ({ type, worker_id: id }) => type === 'worker.working' && id === worker);
    await lead.ok('kill_worker', { worker_id: worker });
    await send(worker, 'make three');
    expect(await ended(worker)).toMatchObject({ state: 'done', summary: 'three is made' });
  });

  it('that was on its way back when the supervisor died is there afterwards, and has the message once', async () => {
    await begin(backend);
    const worker = await spawn('die of it');
    await ended(worker);
    await send(worker, 'make four');
    await rig.crash();
    await rig.takeUp();
    lead = await rig.lead();
    expect(await ended(worker)).toMatchObject({ state: 'done', summary: 'four is made' });
    expect(rig.repo.git('log', '--format=%s', row(worker)?.branch ?? '').match(/four/g)).toHaveLength(1);
  });

  it('whose worktree is gone has it made again from its branch; without the branch it says so, and what to do', async () => {
    await begin(backend);
    const [worker, other] = [await spawn('die of it'), await spawn('die of it, too')];
    for (const id of [worker, other]) {
      await ended(id);
      rmSync(row(id)?.worktree ?? '', { recursive: true });
    }
    await send(worker, 'make five');
    expect(await ended(worker)).toMatchObject({ state: 'done', summary: 'five is made' });
    rig.repo.git('worktree', 'prune');
    rig.repo.git('branch', '-D', row(other)?.branch ?? '');
    await send(other, 'make six');
    const answer = await ended(other);
    expect(answer).toMatchObject({ state: 'failed' });
    expect(JSON.stringify(answer)).toMatch(/there is no worktree and no branch/);
  });
});

describe.each(['tmux', 'headless'] as const)('the limit on live workers (%s)', (backend) => {
  it('makes an idle integrated worker retire, and it returns; one that is needed stays', async () => {
    await begin(backend, 2);
    const first = await spawn('make one');
    await ended(first);
    const second = await spawn('stay at it');
    expect(await lead.code('spawn_worker', { task: 'make two' })).toBe('LIMIT_REACHED');
    await lead.ok('integrate_worker', { worker_id: first });
    const third = await spawn('make two');
    await ended(third);
    expect(row(first)).toMatchObject({ state: 'exited', retired: true });
    expect(row(second)?.retired).toBe(false);
    expect(await lead.code('send_to_worker', { worker_id: first, message: 'make three' })).toBe(
      'LIMIT_REACHED',
    );
    await lead.ok('integrate_worker', { worker_id: third });
    await send(first, 'make three');
    expect(await ended(first)).toMatchObject({ state: 'done', summary: 'three is made' });
    expect(row(third)?.retired).toBe(true);
    expect(count('thread.opened', first)).toBe(1);
  });
});
