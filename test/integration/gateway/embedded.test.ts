import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EMBEDDED } from '../../../src/agents/embedded.js';
import { scripted } from '../../../src/agents/scripted.js';
import { GATEWAY_START_MS, GatewayRig } from '../../support/gateway-rig.js';
import { breaks, chats, ModelServer, refuses, says } from '../../support/model-server.js';
import { createSkipClock } from '../../support/skip-clock.js';

const KEY = 'a-key-of-this-test-that-nobody-may-see';
const PROVIDER = 'embedded:anthropic';
const OTHER = 'embedded:openai';

const clock = createSkipClock();
let model: ModelServer;
let rig: GatewayRig;
beforeAll(async () => {
  model = await ModelServer.start();
  const env = {
    ...{ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: model.url },
    ...{ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${model.url}/v1/` },
  };
  const options = [PROVIDER, OTHER].flatMap((name) => ['--agent-option', `${name}.model=mock-1`]);
  rig = await GatewayRig.start('name: none\n', ['--default-provider', PROVIDER, ...options], {
    ...{ agents: [scripted, ...EMBEDDED], env, clock },
  });
}, GATEWAY_START_MS);
afterAll(async () => {
  await rig.close();
  await model.close();
});

const started = () => rig.store.rows('attempts').filter(({ pid }) => pid !== null);
const words = () =>
  model.asked.at(-1)?.body.messages.map(({ role, content }) => [role, JSON.stringify(content)]);

describe.each([
  ['messages', PROVIDER, '/v1/messages', says],
  ['chat', OTHER, '/v1/chat/completions', chats],
] as const)('[58] a provider that speaks %s', (_format, provider, path, answers) => {
  it('answers without a process, and is told the whole conversation each time', async () => {
    model.plays(answers(['Hel', 'lo, ', 'you']));
    const session = (await rig.post('/sessions', { provider })).body.session.id;
    const run = await rig.over(await rig.say(session, 'hi there'));
    expect(run).toMatchObject({ state: 'succeeded', result_text: 'Hello, you', provider });
    expect(model.asked).toHaveLength(1);
    expect(model.asked[0]).toMatchObject({ path, body: { model: 'mock-1', stream: true } });
    expect(started()).toEqual([]);
    expect(rig.types(session)).toEqual(
      expect.arrayContaining(['message.submitted', 'message.started', 'text.completed', 'usage.reported']),
    );
    model.plays(answers(['Again']));
    await rig.over(await rig.say(session, 'and now?'));
    const texts = words()?.map(([role, text = '']) => [
      role,
      /hi there|Hello, you|and now\?/.exec(text)?.[0],
    ]);
    expect(texts).toEqual([
      ['user', 'hi there'],
      ['assistant', 'Hello, you'],
      ['user', 'and now?'],
    ]);
    const { body } = await rig.get(`/sessions/${session}/messages`);
    expect(body.messages.map(({ text }) => text)).toEqual(['hi there', 'Hello, you', 'and now?', 'Again']);
  });
});

describe('a model that has no room', () => {
  it('is asked again when it says, as often as is sensible, and then the run says why it failed', async () => {
    model.plays(refuses(429, { 'retry-after': '7' }), refuses(503), says(['at last']));
    const run = await rig.say(await rig.session(), 'hello');
    await rig.until('the first refusal', () => model.asked.length === 1);
    clock.skip(6_000);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(model.asked).toHaveLength(1);
    clock.skip(1_500);
    await rig.until('the second', () => model.asked.length === 2);
    while (model.asked.length < 3) {
      clock.skip(500);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(await rig.over(run)).toMatchObject({ state: 'succeeded', result_text: 'at last' });
  });

  it('and says to wait too long fails the run at once, with how long', async () => {
    model.plays(refuses(429, { 'retry-after': '3600' }));
    const run = await rig.over(await rig.say(await rig.session(), 'hello'));
    expect(run).toMatchObject({ state: 'failed' });
    expect(run.error?.message).toContain('it says to wait 3600 s');
    expect(model.asked).toHaveLength(1);
  });
});

describe('an answer that is not whole', () => {
  it.each([
    ['breaks off', breaks(['half of ', 'it']), /broke off in its answer/],
    ['was cut', says(['half'], { stop: 'max_tokens' }), /before its answer was whole \(max_tokens\)/],
  ])('since it %s is no answer: the run fails, and is not asked again by itself', async (_, play, why) => {
    model.plays(play);
    const session = await rig.session();
    const run = await rig.over(await rig.say(session, 'hello'));
    expect(run).toMatchObject({ state: 'failed', result_text: null });
    expect(run.error?.message).toMatch(why);
    expect(model.asked).toHaveLength(1);
    // The conversation goes on.
    model.plays(says(['whole']));
    expect((await rig.over(await rig.say(session, 'again'))).result_text).toBe('whole');
  });
});

describe('a key', () => {
  it('that is not accepted ends the run at once, and is nowhere in what is kept', async () => {
    model.plays(refuses(401));
    const run = await rig.over(await rig.say(await rig.session(), 'hello'));
    expect(run).toMatchObject({ state: 'failed' });
    expect(run.error?.message).toContain('does not accept the key');
    expect(model.asked).toHaveLength(1);
    expect(model.asked[0]?.headers['x-api-key']).toBe(KEY);
    const files = readdirSync(rig.folder, { recursive: true, encoding: 'utf8' }).map((name) =>
      join(rig.folder, name),
    );
    const holding = files.filter((path) => statSync(path).isFile() && readFileSync(path).includes(KEY));
    expect(holding).toEqual([]);
  });

  it('that is not there is named before anything is said', async () => {
    const { status, body } = await rig.post('/sessions', { provider: 'embedded:groq' });
    expect([status, body.code]).toEqual([409, 'AGENT_KEY_MISSING']);
  });
});

it('cancel hangs up on the model, and the next message is asked', async () => {
  model.plays(says(['endless'], { end: false }));
  const session = await rig.session();
  const run = await rig.say(session, 'hello');
  await rig.until('the answer', () => rig.store.run(run)?.state === 'running' && model.asked.length === 1);
  await rig.post(`/runs/${run}/cancel`);
  expect(await rig.over(run)).toMatchObject({ state: 'cancelled' });
  await rig.until('the end of the request', () => model.asked[0]?.isGone === true);
  model.plays(says(['next']));
  expect((await rig.over(await rig.say(session, 'on'))).result_text).toBe('next');
});

it('an answer that a daemon was in the middle of is asked for again by the next one, and the events say so', async () => {
  model.plays(says(['half'], { end: false }));
  const session = await rig.session();
  const run = await rig.say(session, 'hello');
  await rig.until(
    'the answer',
    () => model.asked.length === 1 && rig.types(session).includes('message.started'),
  );
  const flags = [PROVIDER, OTHER].flatMap((name) => ['--agent-option', `${name}.model=mock-1`]);
  model.plays(says(['whole']));
  // As one that is killed: nothing is settled any more.
  await rig.running.gateway.conversations.close();
  await rig.running.stop();
  await rig.start(['--default-provider', PROVIDER, ...flags]);
  expect(await rig.over(run)).toMatchObject({ state: 'succeeded', result_text: 'whole' });
  expect(rig.types(session)).toContain('run.attempt_failed');
});
