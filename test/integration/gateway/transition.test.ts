import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GATEWAY_START_MS, GatewayRig } from '../../support/gateway-rig.js';

const SCRIPT = `
name: transition
workers:
  - match: say (?<what>\\w+)
    steps: [{ say: "I say {{what}}" }]
  - match: until (?<file>\\S+)
    steps: [{ say: waiting }, { run: "until test -e {{file}}; do sleep 0.05; done" }, { say: "saw it" }]
`;

let rig: GatewayRig;
beforeAll(async () => {
  rig = await GatewayRig.start(SCRIPT);
}, GATEWAY_START_MS);
afterAll(() => rig.close());

const move = (run: string, body: unknown) => rig.post(`/runs/${run}/transition`, body);
const external = async (session: string, text: string): Promise<string> =>
  (await rig.post(`/sessions/${session}/messages`, { text, executor: 'external' })).body.run.id;
const begun = (run: string) =>
  rig.until(`the start of ${run}`, () => rig.store.run(run)?.started_at !== null);
const stateOf = async (run: string) => (await rig.get(`/runs/${run}`)).body.run.state;

describe('an external run', () => {
  it('[19] is begun by nobody here, moves along its legal edges, each with an event, and hands on its turn', async () => {
    const session = await rig.session();
    const run = await external(session, 'build it');
    const next = await rig.say(session, 'say next');
    const other = await rig.over(await rig.say(await rig.session(), 'say other'));
    expect(other.state).toBe('succeeded');
    expect([await stateOf(run), await stateOf(next)]).toEqual(['queued', 'queued']);

    const started = await move(run, { status: 'running', expected_status: 'queued' });
    expect([started.status, started.body]).toMatchObject([
      ...[200, { run: { state: 'running', executor: 'external', attempts: 1 } }],
    ]);
    expect(started.body.event).toMatchObject({ type: 'run.started', run_id: run, evidence: 'protocol' });
    const asks = await move(run, { to: 'waiting', reason: 'which target?' });
    expect(asks.body.run.waiting).toEqual({ kind: 'question', text: 'which target?' });
    const answer = await rig.post(`/sessions/${session}/messages`, { text: 'the first' });
    expect(answer.body.run).toMatchObject({ id: run, state: 'running' });

    const done = await move(run, { status: 'succeeded', result_text: 'built' });
    expect(done.body).toMatchObject({
      ...{ run: { state: 'succeeded', result_text: 'built' }, event: { type: 'run.succeeded' } },
    });
    expect((await rig.over(next)).result_text).toBe('I say next');
    const { messages } = (await rig.get(`/sessions/${session}/messages`)).body;
    expect(messages.map(({ receipt }) => receipt)).toEqual([
      ...['answered', 'answered', 'answered', null, null],
    ]);
    expect(rig.store.verifyRebuild()).toEqual([]);
  });

  it('[19] refuses what is no edge with what it may become, and what another one moved before', async () => {
    const run = await external(await rig.session(), 'build it');
    const early = await move(run, { status: 'succeeded', result_text: 'x' });
    expect([early.status, early.body]).toMatchObject([
      ...[409, { code: 'INVALID_TRANSITION', allowed: ['running', 'failed', 'cancelled'] }],
    ]);
    const stale = await move(run, { status: 'failed', expected_status: 'running' });
    expect([stale.status, stale.body.code]).toEqual([409, 'STATUS_CONFLICT']);
    const same = await move(run, { status: 'queued' });
    expect([same.status, same.body.event]).toEqual([200, null]);
    const both = await Promise.all(
      Array.from({ length: 5 }, () => move(run, { status: 'running', expected_status: 'queued' })),
    );
    expect(both.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      200, 409, 409, 409, 409,
    ]);
    expect((await move(run, {})).body.field).toBe('status');
    expect((await move(run, { status: 'failed', to: 'running' })).body.field).toBe('to');
  });

  it('[20] that is over stays what it is', async () => {
    const run = await external(await rig.session(), 'build it');
    await move(run, { status: 'running' });
    const error = { code: 'NO_SPACE', message: 'the disk is full' };
    expect((await move(run, { status: 'failed', error })).body.run.error).toEqual(error);
    const late = await move(run, { status: 'succeeded', result_text: 'late' });
    expect([late.status, late.body]).toMatchObject([409, { code: 'INVALID_TRANSITION', allowed: [] }]);
    expect((await move(run, { status: 'failed' })).body.event).toBeNull();
    expect(await stateOf(run)).toBe('failed');
  });

  it('goes on over a restart of the daemon, which ends nothing that is not its own', async () => {
    const run = await external(await rig.session(), 'build it');
    await move(run, { status: 'running' });
    await rig.running.stop();
    await rig.start();
    expect(await stateOf(run)).toBe('running');
    const asked = await rig.post(`/runs/${run}/cancel`);
    expect(asked.body.run).toMatchObject({ state: 'running', cancel_requested_at: expect.any(String) });
    // Whatever is said of it then.
    expect((await move(run, { status: 'succeeded', result_text: 'x' })).body.run.state).toBe('cancelled');
  });
});

describe('a run of the pool', () => {
  it('[19] [20] is moved by its agent alone, and can be failed from outside: its process is gone then', async () => {
    const session = await rig.session();
    const go = join(rig.folder, 'go');
    const run = await rig.say(session, `until ${go}`);
    const behind = await rig.say(session, 'say behind');
    await begun(run);
    const refused = await move(run, { status: 'succeeded', result_text: 'no' });
    expect([refused.status, refused.body.allowed]).toEqual([409, ['failed', 'cancelled']]);
    const failed = await move(run, { status: 'failed', reason: 'not needed' });
    expect(failed.body).toMatchObject({
      run: { state: 'failed', evidence: 'operator', error: { code: 'OPERATOR', message: 'not needed' } },
      event: { type: 'run.failed', evidence: 'operator' },
    });
    writeFileSync(go, '');
    expect((await rig.over(behind)).result_text).toBe('I say behind');
    expect(await stateOf(run)).toBe('failed');
  });

  it('is failed while it is queued without harm to the one before it', async () => {
    const session = await rig.session();
    const go = join(rig.folder, 'go-queued');
    const first = await rig.say(session, `until ${go}`);
    const queued = await rig.say(session, 'say never');
    await begun(first);
    expect((await move(queued, { status: 'failed' })).body.run.state).toBe('failed');
    writeFileSync(go, '');
    expect((await rig.over(first)).state).toBe('succeeded');
  });

  it('is cancelled with an event that says by whom', async () => {
    const session = await rig.session();
    const run = await rig.say(session, `until ${join(rig.folder, 'never')}`);
    await begun(run);
    const { body } = await move(run, { status: 'cancelled', reason: 'enough' });
    expect(body.event).toMatchObject({ type: 'run.cancel_requested', evidence: 'operator' });
    expect((await rig.over(run)).state).toBe('cancelled');
  });
});
