import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GATEWAY_START_MS, GatewayRig } from '../../support/gateway-rig.js';

const SCRIPT = `
name: keys
workers:
  - match: say (?<what>\\w+)
    steps: [{ say: "I say {{what}}" }]
`;

let rig: GatewayRig;
beforeAll(async () => {
  rig = await GatewayRig.start(SCRIPT);
}, GATEWAY_START_MS);
afterAll(() => rig.close());

const runsOf = (session: string) => rig.store.runs(session).length;

describe('an idempotency key', () => {
  it('[48] [52] makes the same request one, also across a restart, and says that it did', async () => {
    const session = await rig.session();
    const message = { text: 'say once', idempotency_key: 'k-48' };
    const first = await rig.post(`/sessions/${session}/messages`, message);
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    await rig.over(first.body.run.id);
    await rig.running.stop();
    await rig.start();
    const again = await rig.post(`/sessions/${session}/messages`, message);
    expect(again.body).toMatchObject({
      ...{ idempotent_replay: true, message: { id: first.body.message.id } },
      run: { id: first.body.run.id, state: 'succeeded' },
    });
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([202, 'true']);
    expect(runsOf(session)).toBe(1);
    const made = await rig.post('/sessions', { idempotency_key: 'k-session' });
    const same = await rig.post('/sessions', {}, { 'idempotency-key': 'k-session' });
    expect(same.body.session.id).toBe(made.body.session.id);
  });

  it('[49] with another request is a conflict without any effect', async () => {
    const session = await rig.session();
    await rig.post(`/sessions/${session}/messages`, { text: 'say one', idempotency_key: 'k' });
    const other = await rig.post(`/sessions/${session}/messages`, { text: 'say two', idempotency_key: 'k' });
    expect([other.status, other.body]).toMatchObject([409, { code: 'IDEMPOTENCY_KEY_REUSED' }]);
    expect(runsOf(session)).toBe(1);
  });

  it('[50] of twenty identical requests at the same time makes one run', async () => {
    const session = await rig.session();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        rig.post(`/sessions/${session}/messages`, { text: 'say one' }, { 'idempotency-key': 'same' }),
      ),
    );
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.run.id}`)).size).toBe(1);
    expect(runsOf(session)).toBe(1);
  });

  it('[51] is another one in another session and at another address', async () => {
    const [one, other] = [await rig.session(), await rig.session()];
    const message = { text: 'say it', idempotency_key: 'shared' };
    const answers = [
      await rig.post(`/sessions/${one}/messages`, message),
      await rig.post(`/sessions/${other}/messages`, message),
      await rig.post('/runs', { ...message, session_id: one }),
    ];
    expect(new Set(answers.map(({ body }) => body.run.id)).size).toBe(3);
  });

  it('[53] counts from the header alone, and is refused where header and body differ', async () => {
    const session = await rig.session();
    const path = `/sessions/${session}/messages`;
    const { status, body } = await rig.post(
      path,
      { text: 'say it', idempotency_key: 'a' },
      { 'idempotency-key': 'b' },
    );
    expect([status, body]).toMatchObject([422, { field: 'idempotency_key' }]);
    expect(runsOf(session)).toBe(0);
  });
});

describe('an input', () => {
  it.each([
    ['no JSON', '/sessions', '{', 400, { code: 'INVALID_JSON' }],
    ['no object', '/sessions', '[1]', 422, { code: 'INVALID_INPUT', field: 'body' }],
    ['a field too many', '/sessions', '{"tilte":"x"}', 422, { code: 'INVALID_INPUT' }],
    ['a field too few', '/runs', '{"session_id":"00000000"}', 422, { field: 'text' }],
    [
      'too much',
      '/sessions',
      JSON.stringify({ title: 'x'.repeat(1_100_000) }),
      413,
      { code: 'BODY_TOO_LARGE' },
    ],
  ])('[22] with %s is refused, and what is wrong is named', async (_what, path, body, status, problem) => {
    const answer = await rig.post(path, body);
    expect([answer.status, answer.body]).toMatchObject([status, problem]);
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  });

  it('is JSON or nothing: no form and no plain text', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      const { status, body } = await rig.post('/sessions', '{}', { 'content-type': type });
      expect([status, body]).toMatchObject([415, { code: 'UNSUPPORTED_MEDIA_TYPE' }]);
    }
  });
});
