import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GATEWAY_START_MS, GatewayRig } from '../../support/gateway-rig.js';

const SCRIPT = `
name: children
workers:
  - match: say (?<what>\\w+)
    steps: [{ say: "I say {{what}}" }]
  - match: until (?<file>\\S+)
    steps: [{ say: waiting }, { run: "until test -e {{file}}; do sleep 0.05; done" }, { say: "saw it" }]
  - contains: fail
    steps: [{ fail: no such thing }]
`;

let rig: GatewayRig;
beforeAll(async () => {
  rig = await GatewayRig.start(SCRIPT, ['--max-spawn-depth', '2', '--max-children', '2']);
}, GATEWAY_START_MS);
afterAll(() => rig.close());

const file = (name: string) => join(rig.folder, name);
const eventsOf = async (session: string, type: string) =>
  (await rig.get(`/sessions/${session}/events?types=${type}`)).body.events;
const started = (run: string) =>
  rig.until(`the start of ${run}`, () => rig.store.run(run)?.started_at !== null);

async function parent(text = 'say parent') {
  const session = await rig.session();
  return { session, run: await rig.say(session, text) };
}

async function spawn(run: string, task: string, more: object = {}) {
  const { status, body } = await rig.post(`/runs/${run}/spawn`, { task, ...more });
  expect({ status, code: body.code }).toEqual({ status: 202, code: undefined });
  return { session: body.session.id, run: body.run.id, body };
}

describe('a child session', () => {
  it('[39] is there at once with its parents, and its end with its result is told to the session above', async () => {
    const above = await parent();
    const child = await spawn(above.run, 'say hello');
    expect(child.body).toMatchObject({
      session: { parent_session_id: above.session, parent_run_id: above.run, spawn_depth: 1 },
      run: { parent_run_id: above.run, session_id: child.session },
      parent: { session_id: above.session, run_id: above.run },
    });
    expect((await rig.over(child.run)).result_text).toBe('I say hello');
    const spawned = await eventsOf(above.session, 'child.spawned');
    expect(spawned.map(({ data }) => data)).toEqual([{ child: child.session, run: child.run }]);
    await rig.until('its end', () => rig.types(above.session).includes('child.finished'));
    expect((await eventsOf(above.session, 'child.finished')).map(({ data }) => data)).toEqual([
      { child: child.session, run: child.run, state: 'succeeded', summary: 'I say hello' },
    ]);
    const { body } = await rig.get(`/sessions/${above.session}`);
    expect(body.children.map(({ session_id: id }) => id)).toEqual([child.session]);
    expect(rig.store.runs(above.session)).toHaveLength(1);
    const { messages } = (await rig.get(`/sessions/${above.session}/messages`)).body;
    expect(messages.filter(({ sender }) => sender === `session ${child.session}`)).toHaveLength(1);
  });

  it('starts a run of its parent where that was wished for', async () => {
    const above = await parent();
    const child = await spawn(above.run, 'say woken', { wake_parent: true });
    await rig.over(child.run);
    await rig.until('a run of the parent', () => rig.store.runs(above.session).length === 2);
    const woken = rig.store.runs(above.session)[1]!;
    expect((await rig.over(woken.run_id)).prompt).toContain(`Child session ${child.session}`);
  });

  it('[40] is refused beyond the depth and beyond the number, each with a code of its own', async () => {
    const above = await parent();
    const first = await spawn(above.run, `until ${file('go-40')}`);
    const second = await spawn(first.run, `until ${file('go-40')}`);
    const deep = await rig.post(`/runs/${second.run}/spawn`, { task: 'say deep' });
    expect([deep.status, deep.body.code]).toEqual([409, 'SPAWN_DEPTH_EXCEEDED']);
    await spawn(above.run, `until ${file('go-40')}`);
    const many = await rig.post(`/runs/${above.run}/spawn`, { task: 'say many' });
    expect([many.status, many.body.code]).toEqual([429, 'TOO_MANY_CHILDREN']);
    writeFileSync(file('go-40'), '');
    await rig.over(first.run);
    await spawn(above.run, 'say again');
  });

  it('[46] is cancelled with the run above it, and so is what is below it', async () => {
    const above = await parent(`until ${file('never')}`);
    const child = await spawn(above.run, `until ${file('never')}`);
    const grandchild = await spawn(child.run, `until ${file('never')}`);
    await Promise.all([above.run, child.run, grandchild.run].map(started));
    expect((await rig.post(`/runs/${above.run}/cancel`)).status).toBe(202);
    const ends = await Promise.all([above.run, child.run, grandchild.run].map((run) => rig.over(run)));
    expect(ends.map(({ state }) => state)).toEqual(['cancelled', 'cancelled', 'cancelled']);
  });

  it('[48] spawned twice with one key is one', async () => {
    const above = await parent();
    const first = await spawn(above.run, 'say once', { idempotency_key: 'k' });
    const again = await rig.post(`/runs/${above.run}/spawn`, { task: 'say once', idempotency_key: 'k' });
    expect(again.body).toMatchObject({ session: { id: first.session }, idempotent_replay: true });
    expect(await eventsOf(above.session, 'child.spawned')).toHaveLength(1);
    const other = await rig.post(`/runs/${above.run}/spawn`, { task: 'say other', idempotency_key: 'k' });
    expect([other.status, other.body.code]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
  });
});
