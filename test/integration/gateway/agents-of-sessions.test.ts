import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GATEWAY_START_MS, GatewayRig } from '../../support/gateway-rig.js';

const CURL = 'curl -s -H "Authorization: Bearer $AGENTCTL_AUTH_TOKEN" -H "Content-Type: application/json"';
const SCRIPT = `
name: agents
workers:
  - contains: "Message from"
    steps: [{ say: "thank you" }]
  - match: say (?<what>\\w+)
    steps: [{ say: "I say {{what}}" }]
  - contains: delegate
    steps:
      - { call: spawn_session, with: { task: say delegated }, save: child }
      - { call: wait_for_run, with: { run_id: "{{child.run.id}}", timeout_s: 40 }, save: waited }
      - { say: "child: {{waited.run.result_text}}" }
  - contains: foreign
    steps:
      - { call: get_session, with: { session_id: "0badcafe" }, expect_error: FORBIDDEN }
      - { say: "not mine" }
  - contains: shell
    steps:
      - run: '${CURL} -X POST "$AGENTCTL_URL/runs/$AGENTORCHESTR_RUN_ID/spawn" -d "{\\"task\\":\\"say shelled\\"}" > spawned.json'
      - run: '${CURL} -X POST "$AGENTCTL_URL/sessions" -d "{}" > refused.json'
      - run: '${CURL} "$AGENTCTL_URL/sessions/$AGENTORCHESTR_SESSION_ID" > own.json'
      - { say: done }
  - contains: command line
    steps:
      - run: 'CHILD=$("$AGENTCTL" --field run.id tool session-spawn "say typed"); "$AGENTCTL" --field run.result_text run wait "$CHILD" > typed.txt'
      - run: '"$AGENTCTL" session create; echo $? > refused.txt'
      - { say: done }
  - contains: reply by command
    steps:
      - run: '"$AGENTCTL" tool session-reply-parent "may I type?" --request-kind question'
      - { say: asked }
  - contains: ask above
    steps:
      - { call: reply_parent, with: { text: "may I?", request_kind: permission_request } }
      - { say: asked }
`;

let rig: GatewayRig;
beforeAll(async () => {
  rig = await GatewayRig.start(SCRIPT, ['--max-concurrency', '1']);
}, GATEWAY_START_MS);
afterAll(() => rig.close());

const answer = (name: string) =>
  JSON.parse(readFileSync(join(rig.work, name), 'utf8')) as Record<string, never>;

describe('the agent of a conversation', () => {
  it('[47] [72] spawns with its tools and waits for its child, in a pool of one', async () => {
    const session = await rig.session();
    const run = await rig.over(await rig.say(session, 'delegate'));
    expect(run).toMatchObject({ state: 'succeeded', result_text: 'child: I say delegated' });
    expect(rig.types(session)).toEqual(expect.arrayContaining(['child.spawned', 'child.finished']));
  });

  it('[72] finds its daemon, session, run and token in its environment; the token is for its own children', async () => {
    const session = await rig.session();
    const run = await rig.say(session, 'shell');
    expect((await rig.over(run)).state).toBe('succeeded');
    expect(answer('spawned.json')).toMatchObject({ parent: { session_id: session, run_id: run } });
    expect(answer('refused.json')).toMatchObject({ code: 'FORBIDDEN', status: 403 });
    expect(answer('own.json')).toMatchObject({ code: 'FORBIDDEN', status: 403 });
    await rig.over((answer('spawned.json') as unknown as { run: { id: string } }).run.id);
  });

  it('[72] needs no id for agentctl, whose place it knows whatever its PATH', async () => {
    const run = await rig.over(await rig.say(await rig.session(), 'command line'));
    expect(run.state).toBe('succeeded');
    expect(readFileSync(join(rig.work, 'typed.txt'), 'utf8')).toBe('I say typed\n');
    // Refused: its token is for its own children.
    expect(readFileSync(join(rig.work, 'refused.txt'), 'utf8')).toBe('4\n');
    const { body } = await rig.post(`/runs/${run.id}/spawn`, { task: 'reply by command' });
    const waiting = (await rig.get(`/runs/${body.run.id}/wait?timeout_s=40`)).body;
    expect(waiting.run).toMatchObject({ state: 'waiting', waiting: { text: 'may I type?' } });
    expect((await rig.post(`/sessions/${body.session.id}/send`, { text: 'yes' })).status).toBe(202);
    expect(await rig.over(body.run.id)).toMatchObject({ state: 'succeeded', result_text: 'thank you' });
  });

  it('cannot see what is not below it', async () => {
    const run = await rig.over(await rig.say(await rig.session(), 'foreign'));
    expect(run.result_text).toBe('not mine');
  });

  it('asks for a permission, and only a person may give it', async () => {
    const session = await rig.session();
    const above = await rig.say(session, 'say above');
    await rig.over(above);
    const { body } = await rig.post(`/runs/${above}/spawn`, { task: 'ask above' });
    const waiting = (await rig.get(`/runs/${body.run.id}/wait?timeout_s=40`)).body;
    expect(waiting.run).toMatchObject({ state: 'waiting', waiting: { text: 'may I?' } });
    const token = rig.agentToken(above);
    const send = { text: 'yes' };
    const refused = await rig.post(`/sessions/${body.session.id}/send`, send, {
      authorization: `Bearer ${token}`,
    });
    expect([refused.status, refused.body.code]).toEqual([403, 'ANSWER_FOR_PEOPLE']);
    expect((await rig.post(`/sessions/${body.session.id}/send`, send)).status).toBe(202);
    expect(await rig.over(body.run.id)).toMatchObject({ state: 'succeeded', result_text: 'thank you' });
  });

  it('does not read the figures of the whole daemon', async () => {
    const run = await rig.say(await rig.session(), 'say one');
    const authorization = `Bearer ${rig.agentToken(run)}`;
    expect((await rig.call('GET', '/metrics', undefined, { authorization })).status).toBe(403);
    await rig.over(run);
  });

  it('with the token of another session has no tools there', async () => {
    const run = await rig.say(await rig.session(), 'say one');
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const authorization = `Bearer ${rig.agentToken(run)}`;
    const foreign = await rig.post(`/mcp/${await rig.session()}`, call, { authorization });
    expect([foreign.status, foreign.body.code]).toEqual([401, 'UNAUTHENTICATED']);
    const none = await rig.post(`/mcp/${rig.store.run(run)?.session_id}`, call);
    expect(none.status).toBe(401);
    await rig.over(run);
  });
});
