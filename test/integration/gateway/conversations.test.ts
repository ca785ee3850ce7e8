import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GATEWAY_START_MS, GatewayRig } from '../../support/gateway-rig.js';

const SCRIPT = `
name: gateway
workers:
  - match: say (?<what>\\w+)
    steps: [{ say: "I say {{what}}" }]
  - contains: work
    steps: [{ run: echo made > made.txt && cat made.txt }, { say: made it }]
  - match: until (?<file>\\S+)
    steps: [{ say: waiting }, { run: "until test -e {{file}}; do sleep 0.05; done" }, { say: "saw it" }]
  - contains: stubborn
    steps: [{ ignore_signals: true }, { fork: 2 }, { say: stubborn }, { silence: true }]
  - contains: fail
    steps: [{ fail: no such thing }]
`;

let rig: GatewayRig;
beforeAll(async () => {
  rig = await GatewayRig.start(SCRIPT, ['--max-concurrency', '2']);
}, GATEWAY_START_MS);
afterAll(() => rig.close());

const file = (name: string) => join(rig.folder, name);
const started = (run: string) =>
  rig.until(`the start of ${run}`, () => rig.store.run(run)?.started_at !== null);

describe('a session', () => {
  it('[13] is made of an empty body, and is in the list and at its own address', async () => {
    const { status, body } = await rig.post('/sessions');
    expect({ status, ...body.session }).toMatchObject({
      ...{ status: 201, state: 'idle', provider: 'scripted', cwd: rig.work, permissions: 'agent' },
    });
    const { id } = body.session;
    expect((await rig.get('/sessions')).body.sessions.map((one) => one.id)).toContain(id);
    expect((await rig.get(`/sessions/${id}`)).body).toMatchObject({ session: { id }, latest_run: null });
  });

  it('is listed newest first, page by page, each once', async () => {
    const made = [await rig.session(), await rig.session(), await rig.session()];
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null && seen.length < 100) {
      const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const { body } = await rig.get(`/sessions?limit=2${query}`);
      seen.push(...body.sessions.map(({ id }) => id));
      cursor = body.next_cursor;
    }
    expect(seen).toEqual([...new Set(seen)]);
    expect(seen).toEqual(expect.arrayContaining(made));
    expect((await rig.get('/sessions?cursor=nonsense')).body.code).toBe('INVALID_CURSOR');
  });

  it('[14] that is not there is a 404 with a code, whatever is asked of it', async () => {
    const answers = await Promise.all([
      rig.get('/sessions/0badcafe'),
      rig.get('/sessions/0badcafe/events'),
      rig.get('/sessions/0badcafe/stream'),
      rig.post('/sessions/0badcafe/messages', { text: 'hi' }),
      rig.post('/runs', { session_id: '0badcafe', text: 'hi' }),
    ]);
    for (const { status, body } of answers)
      expect({ status, code: body.code }).toEqual({ status: 404, code: 'SESSION_NOT_FOUND' });
    expect((await rig.get('/runs/nowhere')).body.code).toBe('RUN_NOT_FOUND');
  });

  it('[23] that is archived keeps what it has and takes no message', async () => {
    const session = await rig.session();
    expect((await rig.call('DELETE', `/sessions/${session}`)).body.session.state).toBe('archived');
    const { status, body } = await rig.post(`/sessions/${session}/messages`, { text: 'say hello' });
    expect({ status, code: body.code }).toEqual({ status: 409, code: 'SESSION_ENDED' });
    expect((await rig.call('DELETE', `/sessions/${session}`)).status).toBe(200);
    expect(rig.types(session).filter((type) => type === 'session.ended')).toHaveLength(1);
  });

  it('works only where the daemon may work', async () => {
    const outside = await rig.post('/sessions', { cwd: rig.folder });
    expect({ status: outside.status, code: outside.body.code }).toEqual({
      ...{ status: 403, code: 'FOLDER_NOT_ALLOWED' },
    });
    const relative = await rig.post('/sessions', { cwd: '.' });
    expect({ status: relative.status, code: relative.body.code }).toEqual({
      ...{ status: 422, code: 'INVALID_INPUT' },
    });
    expect((await rig.post('/sessions', { provider: 'nobody' })).body.code).toBe('UNKNOWN_AGENT');
  });
});

describe('a message', () => {
  it('[17] waits behind the one before it in its session, and for nobody in another', async () => {
    const [one, other] = [await rig.session(), await rig.session()];
    const first = await rig.say(one, `until ${file('go-17')}`);
    const second = await rig.say(one, 'say second');
    await started(first);
    expect(await rig.over(await rig.say(other, 'say other'))).toMatchObject({ state: 'succeeded' });
    expect((await rig.get(`/runs/${second}`)).body.run.state).toBe('queued');
    writeFileSync(file('go-17'), '');
    expect((await rig.over(second)).result_text).toBe('I say second');
    expect((await rig.get(`/runs/${first}`)).body.run.state).toBe('succeeded');
  });

  it('[6] begins only when the pool has a place: of three at most two run', async () => {
    const sessions = [await rig.session(), await rig.session(), await rig.session()];
    const runs: string[] = [];
    for (const session of sessions) runs.push(await rig.say(session, `until ${file('go-6')}`));
    await Promise.all(runs.slice(0, 2).map(started));
    const { text } = await rig.get('/daemon/status');
    expect(JSON.parse(text)).toMatchObject({
      ...{ max_concurrency: 2, alive_workers: 2, busy_workers: 2 },
      queue_counts: { queued_count: 1, running_count: 2 },
    });
    expect((await rig.get('/metrics')).text).toContain('agentorchestr_queue_depth{state="queued"} 1\n');
    writeFileSync(file('go-6'), '');
    for (const run of runs) expect((await rig.over(run)).state).toBe('succeeded');
  });

  it('[29] whose agent uses a tool makes its call and its result a pair', async () => {
    const session = await rig.session();
    await rig.over(await rig.say(session, 'work'));
    const types = 'types=tool.called&types=tool.returned';
    const { events } = (await rig.get(`/sessions/${session}/events?${types}`)).body;
    expect(events.map(({ type, data }) => [type, data['call_id']])).toEqual([
      ['tool.called', events[0]?.data['call_id']],
      ['tool.returned', events[0]?.data['call_id']],
    ]);
    expect(existsSync(join(rig.work, 'made.txt'))).toBe(true);
  });

  it('[54] goes on in the conversation of the one before it', async () => {
    const session = await rig.session();
    const first = await rig.over(await rig.say(session, 'say one'));
    const second = await rig.over(await rig.say(session, 'say two'));
    expect(second.provider_thread_id).toBe(first.provider_thread_id);
    expect(first.provider_thread_id).not.toBeNull();
    expect(rig.types(session).filter((type) => type === 'thread.opened')).toHaveLength(1);
    expect((await rig.get(`/sessions/${session}`)).body.session.provider_threads).toMatchObject({
      scripted: { thread_id: first.provider_thread_id },
    });
  });

  it('and its answer are listed as they were said, page by page, each once; its session says when that was', async () => {
    const id = await rig.session();
    const before = (await rig.get(`/sessions/${id}`)).body.session.updated_at;
    for (const word of ['one', 'two', 'three']) await rig.over(await rig.say(id, `say ${word}`));
    const said: string[] = [];
    let pages = 0;
    for (let cursor: string | null = ''; cursor !== null; pages++) {
      const more: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const { body } = await rig.get(`/sessions/${id}/messages?limit=2${more}`);
      said.push(...body.messages.map(({ text }) => text));
      cursor = body.next_cursor;
    }
    expect(pages).toBe(3);
    expect(said).toEqual(['one', 'two', 'three'].flatMap((word) => [`say ${word}`, `I say ${word}`]));
    const { status, body } = await rig.get(`/sessions/${id}/messages?cursor=nothing`);
    expect([status, body.code]).toEqual([400, 'INVALID_CURSOR']);
    expect((await rig.get(`/sessions/${id}`)).body.session.updated_at > before).toBe(true);
  });

  it('whose turn fails is an error of its run, and no answer', async () => {
    const session = await rig.session();
    const run = await rig.over(await rig.say(session, 'fail'));
    expect(run).toMatchObject({ state: 'failed', result_text: null });
    expect(run.error?.message).toContain('no such thing');
    expect((await rig.get(`/sessions/${session}/messages`)).body.messages).toHaveLength(1);
  });
});

describe('a run', () => {
  it('[18] of POST /runs is queued and shows what became of it, with times', async () => {
    const session = await rig.session();
    const { status, body } = await rig.post('/runs', { session_id: session, text: 'say run' });
    expect(status).toBe(202);
    const run = await rig.over(body.run.id);
    expect(run).toMatchObject({ state: 'succeeded', attempts: 1, evidence: 'protocol' });
    expect(run.queued_at <= (run.started_at ?? '') && (run.started_at ?? '') <= (run.finished_at ?? '')).toBe(
      true,
    );
    expect((await rig.get(`/sessions/${session}`)).body.latest_run?.id).toBe(body.run.id);
  });

  it('[21] [20] [55] is cancelled with its whole tree, queued ones at once, and never again', async () => {
    const session = await rig.session();
    const [running, queued] = [await rig.say(session, 'stubborn'), await rig.say(session, 'say never')];
    await rig.until('its word', () => rig.types(session).includes('text.completed'));
    const answers = [await rig.post(`/runs/${queued}/cancel`), await rig.post(`/runs/${running}/cancel`)];
    expect(answers.map(({ status }) => status)).toEqual([202, 202]);
    expect(answers[0]?.body.run.state).toBe('cancelled');
    expect((await rig.over(running)).state).toBe('cancelled');
    const again = await rig.post(`/runs/${running}/cancel`);
    expect([again.status, again.body]).toMatchObject([200, { already_terminal: true }]);
    const thread = (await rig.get(`/runs/${running}`)).body.run.provider_thread_id;
    const next = await rig.over(await rig.say(session, 'say next'));
    expect(next).toMatchObject({ result_text: 'I say next', provider_thread_id: thread });
    expect(thread).not.toBeNull();
    expect((await rig.get(`/runs/${running}`)).body.run.state).toBe('cancelled');
  });

  it('[32] [33] [34] is waited for by a hundred at once, who hold up nothing', async () => {
    const session = await rig.session();
    const run = await rig.say(session, `until ${file('go-34')}`);
    const short = await rig.get(`/runs/${run}/wait?timeout_s=0.05`);
    expect([short.status, short.body]).toMatchObject([200, { done: false, timed_out: true }]);
    const waits = Array.from({ length: 100 }, () => rig.over(run));
    expect((await rig.over(await rig.say(await rig.session(), 'say through'))).state).toBe('succeeded');
    writeFileSync(file('go-34'), '');
    expect(new Set((await Promise.all(waits)).map(({ state }) => state))).toEqual(new Set(['succeeded']));
    const { status, body } = await rig.get(`/runs/${run}/wait?interval_ms=7`);
    expect([status, body]).toMatchObject([422, { field: 'interval_ms' }]);
  });
});
