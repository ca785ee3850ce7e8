import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentAdapter } from '../../../src/agents/contract.js';
import { EMBEDDED } from '../../../src/agents/embedded.js';
import { scripted } from '../../../src/agents/scripted.js';
import { GATEWAY_START_MS, GatewayRig } from '../../support/gateway-rig.js';
import { ModelServer, refuses, says } from '../../support/model-server.js';

const script = (name: string) => `
name: ${name}
workers:
  # Its own words, not what it is told of: at the very beginning.
  - match: "(?<![\\\\s\\\\S])fail ${name}: (?<how>.+)$"
    steps: [{ fail: "{{how}}" }]
  ${name === 'second' ? '- { contains: "fail first: ", steps: [{ say: second does it }] }' : ''}
  - contains: half way
    steps: [{ say: "${name} began" }, { fail: "429 usage limit reached" }]
  - contains: die at once
    steps: [{ crash: 3 }]
  - contains: take your time
    steps: [{ sleep_until_interrupt: true }]
  - contains: think about it
    steps: [{ think: 1500 }, { say: "${name} thought" }]
  - contains: delegate
    steps:
      - { call: spawn_session, with: { task: "fail first: quota used up" }, save: child }
      - { call: wait_for_run, with: { run_id: "{{child.run.id}}", timeout_s: 40 }, save: waited }
      - { say: "child: {{waited.run.provider}}" }
  - match: "(?<all>[\\\\s\\\\S]+)"
    steps: [{ say: "${name} was told: {{all}}" }]
`;

const MODEL = 'embedded:anthropic';
const folder = mkdtempSync(join(tmpdir(), 'ao-providers-'));
const NAMES = ['first', 'second', 'absent'];
const flags = [
  ...NAMES.map((name) => `${name}.script=${join(folder, `${name}.yaml`)}`),
  ...['second.format=thread-jsonl', `${MODEL}.model=mock-1`],
].flatMap((option) => ['--agent-option', option]);
flags.push('--default-provider', 'first');
/** Two agents that speak differently, each with a script of its own, and one whose program is not there. */
const agent = (name: string, more: Partial<AgentAdapter> = {}): AgentAdapter => ({
  ...scripted,
  name,
  ...more,
});

let model: ModelServer;
let rig: GatewayRig;
beforeAll(async () => {
  model = await ModelServer.start();
  for (const name of NAMES) writeFileSync(join(folder, `${name}.yaml`), script(name));
  rig = await GatewayRig.start('name: none\n', flags, {
    agents: [
      ...[scripted, agent('first'), agent('second'), ...EMBEDDED],
      agent('absent', { binaries: [join(folder, 'no-such-program')] }),
    ],
    env: { ANTHROPIC_API_KEY: 'a-key-of-this-test', ANTHROPIC_BASE_URL: model.url },
  });
}, GATEWAY_START_MS);
afterAll(async () => {
  await rig.close();
  await model.close();
  rmSync(folder, { recursive: true });
});

const begin = async (...providers: string[]) => (await rig.post('/sessions', { providers })).body.session.id;
const change = (session: string, body: unknown) => rig.call('PATCH', `/sessions/${session}`, body);
const threads = async (session: string) =>
  (await rig.get(`/sessions/${session}`)).body.session.provider_threads;
const switches = (session: string) =>
  rig.store
    .events({ after: 0, sessionId: session, types: ['worker.switched'], limit: 100 })
    .map(({ data }) => data);

describe('[59] a session with a list of providers', () => {
  it('goes on with the next where the program of one is missing, and says so', async () => {
    const session = await begin('absent', 'second', 'first');
    expect((await rig.get(`/sessions/${session}`)).body.session).toMatchObject({
      ...{ provider: 'absent', providers: ['absent', 'second', 'first'] },
    });
    const run = await rig.over(await rig.say(session, 'hello'));
    expect(run).toMatchObject({
      ...{ state: 'succeeded', provider: 'second', attempts: 1, prompt: 'hello' },
      result_text: 'second was told: hello',
    });
    const reason = 'none of these agents was found on PATH: absent';
    expect(switches(session)).toEqual([{ agent: 'second', from: 'absent', reason }]);
    expect(rig.types(session)).toContain('run.attempt_failed');
    const { diagnostics } = (await rig.get(`/runs/${run.id}/diagnose`)).body as unknown as {
      diagnostics: unknown;
    };
    expect(diagnostics).toMatchObject({
      ...{ provider: 'second', likely_issue: 'none', given_up: [{ provider: 'absent', reason }] },
      invocation: { thread_id: run.provider_thread_id },
    });
    const { messages } = (await rig.get(`/sessions/${session}/messages`)).body;
    expect(messages.map(({ role, sender }) => [role, sender])).toEqual([
      ['user', 'client'],
      ['assistant', 'second'],
    ]);
    expect(rig.store.verifyRebuild()).toEqual([]);
  });

  it.each([
    ['its limit is reached', 'you have used up your quota'],
    ['it is not logged in', '401 unauthorized'],
  ])('and where one says that %s, before it said or did anything', async (_, how) => {
    const session = await begin('first', 'second');
    const run = await rig.over(await rig.say(session, `fail first: ${how}`));
    expect(run).toMatchObject({ state: 'succeeded', provider: 'second', result_text: 'second does it' });
    expect(switches(session)).toEqual([{ agent: 'second', from: 'first', reason: how }]);
  });

  it('but never after something was said', async () => {
    const session = await begin('first', 'second');
    const run = await rig.over(await rig.say(session, 'go half way'));
    expect(run).toMatchObject({ state: 'failed', provider: 'first', attempts: 1 });
    expect(run.error?.message).toBe('429 usage limit reached');
    expect(switches(session)).toEqual([]);
  });

  it('and not for what is not the fault of the provider', async () => {
    const session = await begin('first', 'second');
    const died = await rig.over(await rig.say(session, 'die at once'));
    expect(died).toMatchObject({ state: 'failed', provider: 'first' });
    const failed = await rig.over(await rig.say(session, 'fail first: the tests are red'));
    expect(failed).toMatchObject({ state: 'failed', provider: 'first' });
    expect(switches(session)).toEqual([]);
  });

  it('begins each run with the first, who is told what was said without it', async () => {
    const session = await begin('first', 'second');
    const zero = await rig.over(await rig.say(session, 'word zero'));
    const one = await rig.over(await rig.say(session, 'fail first: quota used up'));
    const two = await rig.over(await rig.say(session, 'word two'));
    expect([zero, one, two].map(({ provider }) => provider)).toEqual(['first', 'second', 'first']);
    expect(two.provider_thread_id).toBe(zero.provider_thread_id);
    expect(two.result_text).toContain('[instruction]\nfail first: quota used up\n[answer]\nsecond does it');
    expect(two.result_text).not.toContain('word zero');
    const three = await rig.over(await rig.say(session, 'word three'));
    expect(three.result_text).toBe('first was told: word three');
    // What each run was done by stays as it was.
    expect((await rig.get(`/runs/${one.id}`)).body.run).toMatchObject({ provider: 'second' });
  });

  it('ends with what the last one says, and is then a failed run', async () => {
    const session = await begin('absent', MODEL);
    model.plays(refuses(401));
    const run = await rig.over(await rig.say(session, 'hello'));
    expect(run).toMatchObject({ state: 'failed', provider: MODEL });
    expect(run.error?.message).toContain('does not accept the key');
  });

  it('may have models in it, which know what agents said, as agents what they said', async () => {
    const session = await begin(MODEL, 'first');
    model.plays(refuses(401));
    const asked = await rig.over(await rig.say(session, 'word one'));
    expect(asked).toMatchObject({ provider: 'first', result_text: 'first was told: word one' });
    model.plays(says(['the model does it']));
    const run = await rig.over(await rig.say(session, 'word two'));
    expect(run).toMatchObject({ provider: MODEL, result_text: 'the model does it' });
    expect(model.asked.at(-1)?.body.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(JSON.stringify(model.asked.at(-1)?.body.messages)).not.toContain('[instruction]');
    model.plays(refuses(401));
    const last = await rig.over(await rig.say(session, 'word three'));
    expect(last.result_text).toMatch(
      /\[instruction\]\nword two\n\[answer\]\nthe model does it[^]*word three$/,
    );
  });

  it('goes on with the next one also where the daemon dies meanwhile', async () => {
    const session = await begin('absent', 'second');
    const run = await rig.say(session, 'think about it');
    await rig.until('the next one', () => rig.types(session).includes('worker.switched'));
    // As one that is killed: nothing is settled any more.
    await rig.running.gateway.conversations.close();
    await rig.running.stop();
    await rig.start(flags);
    const over = await rig.over(run);
    expect(over).toMatchObject({ state: 'succeeded', provider: 'second', result_text: 'second thought' });
    expect(switches(session)).toHaveLength(1);
  });

  it('is inherited by its children', async () => {
    const run = await rig.over(await rig.say(await begin('first', 'second'), 'delegate'));
    expect(run.result_text).toBe('child: second');
  });

  it('needs one that can be started, and names that mean something', async () => {
    const refused = async (body: unknown) => {
      const { status, body: problem } = await rig.post('/sessions', body);
      return [status, problem.code, problem.field];
    };
    expect(await refused({ providers: ['absent'] })).toEqual([409, 'NO_AGENTS', undefined]);
    expect(await refused({ providers: ['first', 'nobody'] })).toEqual([404, 'UNKNOWN_AGENT', undefined]);
    expect(await refused({ providers: ['first', 'first'] })).toEqual([422, 'INVALID_INPUT', 'providers']);
    expect(await refused({ providers: [] })).toEqual([422, 'INVALID_INPUT', 'providers']);
    const both = { provider: 'first', providers: ['second', 'first'] };
    expect(await refused(both)).toEqual([422, 'INVALID_INPUT', 'provider']);
  });
});

describe('[57] another provider for a session that has begun', () => {
  it('is told once what was said, and both keep their conversations', async () => {
    const session = await begin('first');
    await rig.post(`/sessions/${session}/messages`, { role: 'system', text: 'Answer in rhymes.' });
    const one = await rig.over(await rig.say(session, 'word one'));
    const changed = await change(session, { provider: 'second' });
    expect(changed.body.session).toMatchObject({ provider: 'second', providers: ['second'] });
    const two = await rig.over(await rig.say(session, 'word two'));
    expect(two).toMatchObject({ provider: 'second', prompt: 'word two' });
    for (const said of [
      '[system]\nAnswer in rhymes.',
      '[instruction]\nword one',
      'first was told',
      'word two',
    ])
      expect(two.result_text).toContain(said);
    const three = await rig.over(await rig.say(session, 'word three'));
    expect(three.result_text).toBe('second was told: word three');
    expect(three.provider_thread_id).toBe(two.provider_thread_id);
    expect(await threads(session)).toMatchObject({
      first: { thread_id: one.provider_thread_id },
      second: { thread_id: two.provider_thread_id },
    });

    await change(session, { provider: 'first' });
    const four = await rig.over(await rig.say(session, 'word four'));
    expect(four.provider_thread_id).toBe(one.provider_thread_id);
    expect(four.result_text).toMatch(
      /^first was told: .* since you were last\.[^]*<conversation>\n\[instruction\]\nword two\n\[answer\]\nsecond/,
    );
    expect(four.result_text).toMatch(/word three\n\[answer\]\nsecond was told: word three[^]*word four$/);
    expect(await threads(session)).toMatchObject({
      first: { thread_id: one.provider_thread_id },
      second: { thread_id: two.provider_thread_id },
    });
    expect(rig.types(session).filter((type) => type === 'thread.opened')).toHaveLength(2);
    expect(rig.store.verifyRebuild()).toEqual([]);
  });

  it('is not to be had while a run is at it', async () => {
    const session = await begin('first');
    const run = await rig.say(session, 'take your time');
    await rig.until('its turn', () => rig.types(session).includes('message.started'));
    const refused = await change(session, { provider: 'second', title: 'renamed' });
    expect([refused.status, refused.body.code]).toEqual([409, 'SESSION_BUSY']);
    // As a whole: the title is as it was.
    expect((await change(session, { provider: 'first' })).body.session).toMatchObject({ title: '' });
    await rig.post(`/runs/${run}/cancel`);
    await rig.over(run);
    expect((await change(session, { provider: 'second' })).status).toBe(200);
  });

  it('ends its turn when it says so, whatever the one before showed last', async () => {
    const session = await begin('first');
    await rig.over(await rig.say(session, 'word one'));
    await change(session, { provider: 'second' });
    const run = await rig.over(await rig.say(session, 'think about it'));
    expect(run).toMatchObject({ state: 'succeeded', result_text: 'second thought' });
  });

  it('is not mistaken for the one before by what that still has to say', async () => {
    const session = await begin('first');
    await rig.over(await rig.say(session, 'word one'));
    await change(session, { provider: 'second' });
    const run = await rig.say(session, 'think about it');
    await rig.until(
      'its turn',
      () => rig.types(session).filter((one) => one === 'message.started').length === 2,
    );
    const hook = (agent: string, thread: string) => {
      const body = { hook_event_name: 'SessionStart', session_id: thread };
      const authorization = `Bearer ${rig.agentToken(run)}`;
      return rig.post(`/hooks/${session}?agent=${agent}`, body, { authorization });
    };
    const before = await threads(session);
    expect((await hook('first', 'late')).status).toBe(200);
    expect(await threads(session)).toEqual(before);
    await hook('second', 'own');
    expect((await threads(session))['second']).toMatchObject({ thread_id: 'own' });
    expect(await rig.over(run)).toMatchObject({ state: 'succeeded', result_text: 'second thought' });
  });

  it('keeps those that stand in, and has to be one that can be started', async () => {
    const session = await begin('first', 'second');
    expect((await change(session, { provider: 'absent' })).body.session.providers).toEqual([
      'absent',
      'second',
    ]);
    expect((await change(session, { provider: 'second' })).body.session.providers).toEqual(['second']);
    expect((await change(session, { providers: ['absent'] })).body.code).toBe('NO_AGENTS');
    expect((await change(session, { provider: 'nobody' })).body.code).toBe('UNKNOWN_AGENT');
  });

  it('goes on in the conversation of each after another daemon has taken over', async () => {
    const session = await begin('first');
    const one = await rig.over(await rig.say(session, 'word one'));
    await change(session, { provider: 'second' });
    await rig.over(await rig.say(session, 'word two'));
    await change(session, { provider: 'first' });
    await rig.running.stop();
    await rig.start(flags);
    const three = await rig.over(await rig.say(session, 'word three'));
    expect(three.provider_thread_id).toBe(one.provider_thread_id);
    expect(three.result_text).toContain('second was told');
  });
});
