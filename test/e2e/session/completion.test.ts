import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { SessionRig, SILENT_LEAD, type McpCaller } from '../../support/session-rig.js';

const SCRIPT = `${SILENT_LEAD}
workers:
  - name: again
    contains: second task
    steps: [{ think: 300 }, { report_done: second done }]
  - name: flag
    contains: use the flag
    steps:
      - flag: done
        summary: flagged summary
      - end: true
  - name: sentinels
    contains: two sentinels
    steps:
      - say: 'I was told to print WORKER_DONE[x]: quoted, which is prose'
      - print: 'WORKER_DONE: first word'
      - print: 'WORKER_FAILED: later word'
      - end: true
  - name: prose
    contains: only prose
    steps:
      - say: 'when finished I would print WORKER_DONE: all good, but I am not'
      - end: true
  - name: asks
    contains: ask me
    steps:
      - ask_lead: red or blue?
      - end: true
  - name: answered
    after: asks
    steps:
      - write: colour.txt
        content: '{{prompt}}'
      - commit: colour
      - report_done: painted
  - name: nothing
    contains: change nothing
    steps:
      - call: report_done
        with: { summary: did nothing }
        expect_error: REPORT_INCOMPLETE
      - report_done: really nothing to do
  - name: dirty
    contains: leave it dirty
    steps:
      - write: left.txt
        content: uncommitted
      - call: report_done
        with: { summary: dirty }
        expect_error: REPORT_INCOMPLETE
      - commit: left
      - report_done: now committed
  - name: late
    contains: get blocked after a while
    steps: [{ think: 1500 }, { report_blocked: no network }]
  - name: blocked
    contains: get blocked
    steps: [{ report_blocked: no network }]
  - name: exits
    contains: exit without a word
    steps: [{ say: last words of this worker }, { exit: 3 }]
  - name: stubborn
    contains: never die
    steps: [{ ignore_signals: true }, { fork: 2 }, { silence: true }]
  - name: gate
    contains: needs permission
    steps:
      - permission: may I run rm?
      - write: allowed.txt
        content: x
      - commit: allowed
      - report_done: was allowed
  - name: chatty
    contains: many lines
    steps:
      - repeat: 60
        steps: [{ print: 'line {{index}}' }]
      - silence: true
  - name: slow
    contains: stay at it
    steps: [{ silence: true }]
`;

let rig: SessionRig;
let lead: McpCaller;

beforeAll(async () => {
  rig = new SessionRig();
  await rig.start(SCRIPT, { limits: { max_workers: 20, spawns_per_minute: 100 } });
  lead = await rig.lead();
}, 180_000);
afterAll(() => rig.close(), 60_000);
afterEach(async () => {
  for (const worker of rig.store.workers(rig.sessionId))
    if (worker.role === 'worker' && worker.state !== 'exited')
      await lead.ok('kill_worker', { worker_id: worker.worker_id });
});

async function spawn(task: string, perspective = 'implementer'): Promise<string> {
  return String((await lead.ok('spawn_worker', { task, perspective }))['worker_id']);
}
const wait = (worker_id: string, timeout_s = 60) => lead.ok('wait_for_worker', { worker_id, timeout_s });
const run = (id: string) => rig.store.runs(rig.sessionId, id).at(-1);

describe('completion', () => {
  it('[46] takes a done.flag with its summary, with evidence "flag"', async () => {
    const id = await spawn('use the flag');
    expect(await wait(id)).toMatchObject({
      worker_id: id,
      state: 'done',
      summary: 'flagged summary',
      done: true,
      ask_again: false,
    });
    expect(run(id)).toMatchObject({ state: 'succeeded', evidence: 'flag' });
  });

  it('[47] [48] takes sentinel lines, the later word wins, and one inside prose counts for nothing', async () => {
    const id = await spawn('two sentinels');
    expect(await wait(id)).toMatchObject({ state: 'failed', summary: 'later word' });
    expect(run(id)).toMatchObject({ state: 'failed', evidence: 'sentinel' });
    const prose = await spawn('only prose');
    expect(await wait(prose)).toMatchObject({ state: 'waiting', done: false, waiting: { kind: 'report' } });
    expect(rig.types(prose).filter((type) => type === 'run.reported')).toEqual([]);
  });

  it('asks once for a report when a turn ends without one, then waits and tells the lead', async () => {
    const id = await spawn('only prose');
    await wait(id);
    const nudges = rig.store.messages(rig.sessionId, id).filter((message) => message.kind === 'nudge');
    expect(nudges.map((message) => message.state)).toEqual(['answered']);
    expect(rig.store.worker(rig.sessionId, id)).toMatchObject({ state: 'waiting', waiting_kind: 'report' });
  });

  it('[49] re-arms with every new instruction: the next wait does not return the old result', async () => {
    const id = await spawn('use the flag');
    expect(await wait(id)).toMatchObject({ summary: 'flagged summary' });
    const sent = await lead.ok('send_to_worker', { worker_id: id, message: 'second task' });
    expect(sent).toMatchObject({ sent: true, worker_id: id });
    expect(await wait(id)).toMatchObject({ state: 'done', summary: 'second done' });
    expect(
      rig.store.runs(rig.sessionId, id).map(({ number, state, evidence }) => [number, state, evidence]),
    ).toEqual([
      [1, 'succeeded', 'flag'],
      [2, 'succeeded', 'protocol'],
    ]);
    expect(readdirSync(`${rig.directory}/workers/${id}`)).not.toContain('done.flag');
  });

  it('replays a send by its key and refuses the key for another text', async () => {
    const id = await spawn('use the flag');
    await wait(id);
    const input = { worker_id: id, message: 'second task', idempotency_key: 'once' };
    const first = await lead.ok('send_to_worker', input);
    await wait(id);
    const second = await lead.ok('send_to_worker', input);
    expect(second).toMatchObject({ message_id: first['message_id'], state: 'answered' });
    expect(await lead.code('send_to_worker', { ...input, message: 'other' })).toBe('IDEMPOTENCY_KEY_REUSED');
    expect(rig.store.runs(rig.sessionId, id)).toHaveLength(2);
  });

  it('carries a question to the lead and the answer back into the same run', async () => {
    const id = await spawn('ask me');
    expect(await wait(id)).toMatchObject({
      state: 'waiting',
      done: false,
      waiting: { kind: 'question', text: 'red or blue?' },
    });
    await lead.ok('send_to_worker', { worker_id: id, message: 'blue, please' });
    expect(await wait(id)).toMatchObject({ state: 'done', summary: 'painted' });
    const runs = rig.store.runs(rig.sessionId, id);
    expect(runs).toHaveLength(1);
    const worktree = rig.store.worker(rig.sessionId, id)?.worktree ?? '';
    expect(readFileSync(`${worktree}/colour.txt`, 'utf8')).toBe('blue, please');
    const own = rig
      .types(id)
      .filter((type) => type.startsWith('question.') || type === 'run.waiting' || type === 'run.succeeded');
    expect(own).toEqual(['question.asked', 'run.waiting', 'question.answered', 'run.succeeded']);
  });

  it('sends "done" back once when nothing was changed, and once when changes are uncommitted', async () => {
    const [nothing, dirty] = [await spawn('change nothing'), await spawn('leave it dirty')];
    expect(await wait(nothing)).toMatchObject({ state: 'done', summary: 'really nothing to do' });
    expect(await wait(dirty)).toMatchObject({ state: 'done', summary: 'now committed' });
    const returned = (id: string) =>
      rig.events().filter((event) => event.worker_id === id && event.type === 'run.reported');
    expect(returned(nothing).map((event) => (event.data as { accepted: boolean }).accepted)).toEqual([
      false,
      true,
    ]);
    expect(returned(dirty).map((event) => (event.data as { accepted: boolean }).accepted)).toEqual([
      false,
      true,
    ]);
  });

  it('tells blocked as blocked', async () => {
    const id = await spawn('get blocked');
    expect(await wait(id)).toMatchObject({ state: 'blocked', summary: 'no network' });
  });

  it('[56] shows a worker that exits without a report as exited, with the tail of its output', async () => {
    const id = await spawn('exit without a word');
    expect(await wait(id)).toMatchObject({ state: 'exited', worker_state: 'exited' });
    expect(rig.store.worker(rig.sessionId, id)).toMatchObject({ state: 'exited', exit_status: 3 });
    expect(rig.store.worker(rig.sessionId, id)?.output_tail).toContain('last words of this worker');
    expect((await lead.ok('read_worker_output', { worker_id: id }))['output']).toContain(
      'last words of this worker',
    );
  });

  it('[51] answers timeout when the time is up; the worker is still listed as at it', async () => {
    const id = await spawn('stay at it');
    expect(await wait(id, 1)).toMatchObject({
      state: 'timeout',
      worker_state: expect.stringMatching(/starting|running|idle/),
      ask_again: true,
      done: false,
    });
    const { workers } = (await lead.ok('list_workers')) as {
      workers: { worker_id: string; state: string }[];
    };
    expect(workers.find((worker) => worker.worker_id === id)?.state).toMatch(/starting|running|idle/);
    expect(run(id)?.state).toMatch(/queued|running/);
  });

  it('waits for any and for all of several workers', async () => {
    const [slow, quick] = [await spawn('stay at it'), await spawn('get blocked')];
    const any = await lead.ok('wait_for_worker', { worker_ids: [slow, quick], mode: 'any' });
    expect(any).toMatchObject({
      ask_again: false,
      results: [
        { worker_id: slow, state: 'timeout' },
        { worker_id: quick, state: 'blocked' },
      ],
    });
    const all = await lead.ok('wait_for_worker', { worker_ids: [slow, quick], mode: 'all', timeout_s: 1 });
    expect(all).toMatchObject({ ask_again: true });
  });

  it('tells the lead on its next tool call what it was not waiting for, once', async () => {
    const id = await spawn('get blocked');
    await rig.event('end', (event) => event.type === 'run.blocked' && event.worker_id === id);
    const first = await lead.ok('list_workers');
    expect(first['notices']).toEqual([`${id} (implementer) is blocked: no network`]);
    expect((await lead.ok('list_workers'))['notices']).toBeUndefined();
  });

  it('keeps the news for the next call when the client of a wait is gone before its answer', async () => {
    const id = await spawn('get blocked after a while');
    const gone = new AbortController();
    const waiting = rig.request('/mcp', {
      method: 'POST',
      token: rig.token({ scope: 'lead', workerId: 'lead' }),
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-session-id': 'a-client-that-hangs-up',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'wait_for_worker', arguments: { worker_id: id } },
      }),
      signal: gone.signal,
    });
    await waiting;
    gone.abort();
    await rig.event('end', (event) => event.type === 'run.blocked' && event.worker_id === id);
    expect((await lead.ok('list_workers'))['notices']).toEqual([
      `${id} (implementer) is blocked: no network`,
    ]);
  });

  it('shows a permission prompt as waiting, and goes on when a person answers it in the pane', async () => {
    const id = await spawn('needs permission');
    expect(await wait(id)).toMatchObject({ state: 'waiting', waiting: { kind: 'permission' } });
    const { execFileSync } = await import('node:child_process');
    const socket = rig.store.session(rig.sessionId)?.tmux_socket ?? '';
    const pane = rig.store.worker(rig.sessionId, id)?.pane_id ?? '';
    execFileSync('tmux', ['-S', socket, 'send-keys', '-t', pane, '1'], { env: rig.env });
    await rig.event('answer', (event) => event.type === 'permission.answered' && event.worker_id === id);
    expect(await wait(id)).toMatchObject({ state: 'done', summary: 'was allowed' });
    const kinds = rig.types(id).filter((type) => type.startsWith('permission.'));
    expect(kinds).toEqual(['permission.requested', 'permission.answered']);
  });

  it('[52] kills an agent that ignores INT and TERM together with its children', async () => {
    const id = await spawn('never die');
    await rig.event('its turn', (event) => event.type === 'message.started' && event.worker_id === id);
    const marker = rig.store.worker(rig.sessionId, id)?.attempt_id ?? 'none';
    const tree = () =>
      rig.world.sandbox
        .processes()
        .filter(({ pid }) => environ(pid).includes(`AGENTORCHESTR_ATTEMPT=${marker}`));
    await expect.poll(() => tree().length, { timeout: 10_000 }).toBeGreaterThan(2);
    expect(await lead.ok('kill_worker', { worker_id: id })).toMatchObject({ killed: true, survivors: [] });
    expect(tree()).toEqual([]);
    expect(run(id)).toMatchObject({ state: 'cancelled' });
    const { workers } = (await lead.ok('list_workers')) as {
      workers: { worker_id: string; state: string }[];
    };
    expect(workers.find((worker) => worker.worker_id === id)?.state).toBe('killed');
  });

  it('[53] reads at most so many lines, newest last', async () => {
    const id = await spawn('many lines');
    await rig.event('its turn', (event) => event.type === 'message.started' && event.worker_id === id);
    await expect
      .poll(
        async () =>
          String((await lead.ok('read_worker_output', { worker_id: id, tail_lines: 30 }))['output']),
        { timeout: 10_000 },
      )
      .toContain('line 59');
    const answer = await lead.ok('read_worker_output', { worker_id: id, tail_lines: 30 });
    expect(String(answer['output']).split('\n').length).toBeLessThanOrEqual(30);
    expect(answer).toMatchObject({ worker_id: id, truncated: true });
  });

  it('[54] lists every worker with state, summary and the task cut to 120 characters', async () => {
    const id = await spawn(`get blocked ${'x'.repeat(200)}`);
    await wait(id);
    const { workers } = (await lead.ok('list_workers')) as { workers: Record<string, unknown>[] };
    expect(workers).toHaveLength(rig.store.workers(rig.sessionId).length - 1);
    expect(workers.at(-1)).toMatchObject({
      worker_id: id,
      state: 'blocked',
      summary: 'no network',
      task: `get blocked ${'x'.repeat(108)}`,
    });
  });
});

function environ(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
  } catch {
    return [];
  }
}
