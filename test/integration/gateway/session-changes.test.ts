import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GATEWAY_START_MS, GatewayRig } from '../../support/gateway-rig.js';

const SCRIPT = `
name: changes
workers:
  - match: forget (?<what>\\w+)
    steps: [{ say: "forgotten {{what}}" }]
  - match: "(?<all>[\\\\s\\\\S]+)"
    steps: [{ say: "I was told: {{all}}" }]
`;

let rig: GatewayRig;
beforeAll(async () => {
  rig = await GatewayRig.start(SCRIPT);
}, GATEWAY_START_MS);
afterAll(() => rig.close());

const put = (session: string, role: string, text: string, headers = {}) =>
  rig.post(`/sessions/${session}/messages`, { role, text }, headers);

describe('a message of another role', () => {
  it('[16] makes no run, and its agent gets it with the next message, once', async () => {
    const session = await rig.session();
    const system = await put(session, 'system', 'Answer in rhymes.');
    const assistant = await put(session, 'assistant', 'Roses are red.');
    expect([system.status, assistant.status]).toEqual([201, 201]);
    expect(system.body.run).toBeUndefined();
    expect(system.body.message).toMatchObject({ role: 'system', text: 'Answer in rhymes.', run_id: null });
    expect((await rig.get(`/sessions/${session}`)).body).toMatchObject({
      ...{ latest_run: null, session: { state: 'idle' } },
    });
    const first = await rig.over(await rig.say(session, 'go on'));
    expect(first.prompt).toBe('go on');
    expect(first.result_text).toMatch(/\[system\]\s+Answer in rhymes\.\s+\[assistant\]\s+Roses are red\./);
    const second = await rig.over(await rig.say(session, 'and again'));
    expect(second.result_text).toBe('I was told: and again');
    const { messages } = (await rig.get(`/sessions/${session}/messages`)).body;
    expect(messages.map(({ role }) => role)).toEqual([
      ...['system', 'assistant', 'user', 'assistant', 'user', 'assistant'],
    ]);
  });

  it('[16] goes with the message after it, not with one that was queued before', async () => {
    const session = await rig.session();
    const before = await rig.say(session, 'before');
    await put(session, 'system', 'Be brief.');
    const after = await rig.say(session, 'after');
    expect((await rig.over(before)).result_text).toBe('I was told: before');
    expect((await rig.over(after)).result_text).toContain('Be brief.');
  });

  it('is taken once for each key, and by no session that is archived', async () => {
    const session = await rig.session();
    const key = { 'idempotency-key': 'context' };
    const [first, again] = [await put(session, 'system', 'x', key), await put(session, 'system', 'x', key)];
    expect(again.status).toBe(201);
    expect(again.body).toMatchObject({ message: { id: first.body.message.id }, idempotent_replay: true });
    expect((await put(session, 'user', 'x', key)).body.code).toBe('IDEMPOTENCY_KEY_REUSED');
    await rig.call('DELETE', `/sessions/${session}`);
    expect((await put(session, 'system', 'y')).body.code).toBe('SESSION_ENDED');
    expect((await put(session, 'tool', 'y')).body).toMatchObject({ code: 'INVALID_INPUT', field: 'role' });
  });
});

describe('a session', () => {
  const change = (session: string, body: unknown) => rig.call('PATCH', `/sessions/${session}`, body);

  it('is renamed and noted about, with one event for what changes and none for what does not', async () => {
    const session = await rig.session();
    const metadata = { team: 'blue' };
    const { status, body } = await change(session, { title: 'second', metadata });
    expect([status, body.session]).toMatchObject([200, { title: 'second', metadata, permissions: 'agent' }]);
    await change(session, { title: 'second', metadata });
    expect(rig.types(session).filter((type) => type === 'session.updated')).toHaveLength(1);
    expect((await change('0badcafe', { title: 'x' })).body.code).toBe('SESSION_NOT_FOUND');
    expect(rig.store.verifyRebuild()).toEqual([]);
  });

  it('[23] that was archived takes messages again once it is active', async () => {
    const session = await rig.session();
    await rig.over(await rig.say(session, 'forget one'));
    expect((await change(session, { status: 'archived' })).body.session.state).toBe('archived');
    expect((await rig.post(`/sessions/${session}/messages`, { text: 'hello' })).status).toBe(409);
    expect((await change(session, { state: 'active' })).body.session.state).toBe('idle');
    const run = await rig.over(await rig.say(session, 'forget two'));
    expect(run).toMatchObject({ state: 'succeeded', result_text: 'forgotten two' });
    expect((await change(session, { state: 'active', status: 'archived' })).body.field).toBe('status');
  });
});
