import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GATEWAY_START_MS, GatewayRig } from '../../support/gateway-rig.js';

const SCRIPT = `
name: escalations
workers:
  - contains: Denied by timeout
    steps: [{ say: "so be it" }]
  - match: say (?<what>\\w+)
    steps: [{ say: "I say {{what}}" }]
  - match: until (?<file>\\S+)
    steps: [{ say: waiting }, { run: "until test -e {{file}}; do sleep 0.05; done" }, { say: "saw it" }]
  - contains: fail
    steps: [{ fail: no such thing }]
  - contains: Message from
    steps: [{ say: "heard" }]
`;

let rig: GatewayRig;
beforeAll(async () => {
  rig = await GatewayRig.start(SCRIPT, ['--escalation-ttl', '600']);
}, GATEWAY_START_MS);
afterAll(() => rig.close());

const file = (name: string) => join(rig.folder, name);
const started = (run: string) =>
  rig.until(
    `the word of ${run}`,
    () => (rig.store.message(rig.store.run(run)?.message_id ?? '')?.started_at ?? false) !== false,
  );

async function family(task: string) {
  const session = await rig.session();
  const run = await rig.say(session, 'say parent');
  const { body } = await rig.post(`/runs/${run}/spawn`, { task });
  return { parent: { session, run }, child: { session: body.session.id, run: body.run.id } };
}

/** A child whose turn goes on until its file is there, with its request asked meanwhile. */
async function asking(name: string, request_kind: string) {
  const all = await family(`until ${file(name)}`);
  await started(all.child.run);
  const asked = await rig.post(`/runs/${all.child.run}/reply-parent`, { text: 'may I?', request_kind });
  writeFileSync(file(name), '');
  return { ...all, asked };
}

describe('what is sent to a session', () => {
  it('[41] makes a run there, and its agent is told who says it', async () => {
    const { parent, child } = await family('say first');
    await rig.over(child.run);
    const { status, body } = await rig.post(`/sessions/${child.session}/send`, {
      ...{ text: 'go on', from_run_id: parent.run },
    });
    expect([status, body]).toMatchObject([202, { status: 'accepted', run: { parent_run_id: parent.run } }]);
    expect(body.run.prompt).toBe(`Message from session ${parent.session} (run ${parent.run}):\n\ngo on`);
    expect((await rig.over(body.run.id)).result_text).toBe('heard');
    await rig.until('its end', () =>
      rig.store
        .events({ after: 0, sessionId: parent.session, types: ['child.finished'], limit: 10 })
        .some(({ data }) => 'run' in data && data.run === body.run.id),
    );
  });

  it('[42] is waited for when asked: a reply, a time that is up, or an error', async () => {
    const session = await rig.session();
    const send = (text: string, timeout_s: number) =>
      rig.post(`/sessions/${session}/send`, { text, timeout_s });
    const ok = await send('say yes', 40);
    expect([ok.status, ok.body]).toMatchObject([200, { status: 'ok', reply: 'I say yes' }]);
    const error = await send('fail', 40);
    expect([error.status, error.body]).toMatchObject([200, { status: 'error' }]);
    const late = await send(`until ${file('go-42')}`, 0.1);
    expect([late.status, late.body]).toMatchObject([200, { status: 'timeout' }]);
    writeFileSync(file('go-42'), '');
    expect((await rig.over(late.body.run.id)).state).toBe('succeeded');
  });
});

describe('reply-parent', () => {
  it('[43] needs nothing but the run; the session above gets the message and the event', async () => {
    const { parent, child, asked } = await asking('go-43', 'question');
    expect([asked.status, asked.body]).toMatchObject([
      202,
      {
        ...{ parent_session_id: parent.session, parent_run_id: parent.run, escalation: { status: 'open' } },
        message: { session_id: parent.session, sender: `session ${child.session}` },
        event: { type: 'escalation.requested', data: { kind: 'question', text: 'may I?', run: child.run } },
      },
    ]);
    expect(rig.types(parent.session)).toContain('escalation.requested');
    const listed = (await rig.get(`/sessions/${parent.session}/escalations`)).body.escalations;
    expect(listed).toMatchObject([{ status: 'open', text: 'may I?' }]);
    await rig.post(`/runs/${child.run}/cancel`);
    await rig.over(child.run);
  });

  it('[44] of a run without a parent is a 409', async () => {
    const run = await rig.say(await rig.session(), 'say alone');
    const { status, body } = await rig.post(`/runs/${run}/reply-parent`, { text: 'hello?' });
    expect([status, body.code]).toEqual([409, 'NO_PARENT_SESSION']);
  });

  it('[45] waits for its answer and goes on with it in the same conversation of its agent', async () => {
    const { parent, child, asked } = await asking('go-45', 'approval_request');
    const waiting = (await rig.get(`/runs/${child.run}/wait?timeout_s=40`)).body;
    expect(waiting).toMatchObject({ done: false, timed_out: false, run: { state: 'waiting' } });
    const thread = () => rig.store.worker(child.session, 'w01')?.thread_id ?? null;
    await rig.until('its conversation', () => thread() !== null);
    const before = thread();
    const sent = await rig.post(`/sessions/${child.session}/send`, {
      ...{ text: 'approved', from_run_id: parent.run },
    });
    expect(sent.body.run.id).toBe(child.run);
    expect(await rig.over(child.run)).toMatchObject({ state: 'succeeded', result_text: 'heard' });
    expect((await rig.get(`/runs/${child.run}`)).body.run.provider_thread_id).toBe(before);
    expect(rig.types(child.session).filter((type) => type === 'thread.opened')).toHaveLength(1);
    const listed = (await rig.get(`/sessions/${parent.session}/escalations`)).body.escalations;
    expect(listed).toMatchObject([{ id: asked.body.escalation.id, status: 'answered' }]);
  });

  it('of the kind status only tells, and nothing waits for it', async () => {
    const { child, asked } = await asking('go-status', 'status');
    expect(asked.body.escalation.status).toBe('told');
    expect((await rig.over(child.run)).state).toBe('succeeded');
  });

  it('[48] said twice with one key is said once', async () => {
    const { parent, child } = await family(`until ${file('go-48')}`);
    await started(child.run);
    const say = () =>
      rig.post(`/runs/${child.run}/reply-parent`, {
        text: 'how I am',
        request_kind: 'status',
        idempotency_key: 'r',
      });
    const [first, again] = [await say(), await say()];
    expect(again.body).toMatchObject({ message: { id: first.body.message.id }, idempotent_replay: true });
    expect(rig.types(parent.session).filter((type) => type === 'escalation.requested')).toHaveLength(1);
    writeFileSync(file('go-48'), '');
    await rig.over(child.run);
  });

  it('that nobody answers in time counts as denied, also across a restart', async () => {
    const { parent, child } = await asking('go-ttl', 'question');
    await rig.get(`/runs/${child.run}/wait?timeout_s=40`);
    await rig.running.stop();
    await rig.start(['--escalation-ttl', '1']);
    expect(rig.store.run(child.run)?.state).toBe('waiting');
    await rig.post(`/sessions/${child.session}/send`, { text: 'answered before' });
    await rig.over(child.run);
    const next = await family(`until ${file('go-ttl-2')}`);
    await started(next.child.run);
    await rig.post(`/runs/${next.child.run}/reply-parent`, { text: 'may I?' });
    writeFileSync(file('go-ttl-2'), '');
    await rig.until('its end', () => rig.store.run(next.child.run)?.ended_at !== null);
    expect((await rig.over(next.child.run)).result_text).toBe('so be it');
    expect(rig.types(next.parent.session)).toContain('escalation.expired');
    expect(rig.types(parent.session)).not.toContain('escalation.expired');
  });
});
