import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bash, call, program, say } from '../support/mock-llm/program.js';
import { says } from '../support/mock-llm/reply.js';
import { GATEWAY_START_MS } from '../support/gateway-rig.js';
import { RealGateway } from '../support/real-agents/gateway.js';

const RULES = [
  program('talk', says('my name is Ada'), function* () {
    yield say('Hello Ada.');
    yield say('You are Ada.');
  }),
  program('work', says('make a file'), function* () {
    yield bash('echo made > made.txt && cat made.txt');
    yield say('It is made.');
  }),
  program('never', says('never end'), function* () {
    yield bash('sleep 3600');
    yield say('I still know what to do.');
  }),
  program('parent', says('delegate'), function* () {
    const { results } = yield call('spawn_session', { task: 'paint the door' });
    const { run, session } = results[0] as unknown as { run: { id: string }; session: { id: string } };
    yield call('wait_for_run', { run_id: run.id, timeout_s: 90 });
    const sent = yield call('send_to_session', { session_id: session.id, text: 'approved', timeout_s: 90 });
    yield say(`The child says: ${String(sent.results[0]?.['reply'])}`);
  }),
  program('child', says('paint the door'), function* () {
    yield call('reply_parent', { text: 'Green?', request_kind: 'approval_request' });
    const { prompt } = yield say('I asked.');
    yield say(prompt.includes('approved') ? 'It is green.' : 'I was told something else.');
  }),
];

describe.each(['claude', 'codex'])('%s behind the gateway', (agent) => {
  let rig: RealGateway;
  beforeAll(async () => {
    rig = await RealGateway.begin(agent, RULES);
  }, GATEWAY_START_MS);
  afterAll(() => rig.close(), 60_000);

  it('[15] [54] answers a message with a message and events, and goes on in one conversation', async () => {
    const session = await rig.session();
    const first = await rig.over(await rig.say(session, 'my name is Ada'));
    expect(first).toMatchObject({ state: 'succeeded', result_text: 'Hello Ada.' });
    const second = await rig.over(await rig.say(session, 'what is my name?'));
    expect(second).toMatchObject({ state: 'succeeded', result_text: 'You are Ada.' });
    expect(second.provider_thread_id).toBe(first.provider_thread_id);
    expect(first.provider_thread_id).not.toBeNull();
    const { messages } = (await rig.get(`/sessions/${session}/messages`)).body;
    expect(messages.map(({ role, text }) => [role, text])).toEqual([
      ['user', 'my name is Ada'],
      ['assistant', 'Hello Ada.'],
      ['user', 'what is my name?'],
      ['assistant', 'You are Ada.'],
    ]);
    expect(rig.types(session).filter((type) => type === 'thread.opened')).toHaveLength(1);
  });

  it('[29] has each tool that it uses as a pair of events', async () => {
    const session = await rig.session();
    const run = await rig.over(await rig.say(session, 'make a file'));
    expect(run).toMatchObject({ state: 'succeeded', result_text: 'It is made.' });
    const events = rig.store.events({ after: 0, sessionId: session, limit: 1_000 });
    const ids = (type: string) =>
      events.filter((event) => event.type === type).map(({ data }) => (data as { call_id: string }).call_id);
    expect(ids('tool.called')).toHaveLength(1);
    expect(ids('tool.returned')).toEqual(ids('tool.called'));
  });

  it('[21] [55] is cancelled with all it started, and its next run goes on in the same conversation', async () => {
    const session = await rig.session();
    const run = await rig.say(session, 'never end');
    await rig.until('its command', () => rig.types(session).includes('tool.called'));
    expect((await rig.post(`/runs/${run}/cancel`)).status).toBe(202);
    const cancelled = await rig.over(run);
    expect(cancelled.state).toBe('cancelled');
    const next = await rig.over(await rig.say(session, 'what now?'));
    expect(next.provider_thread_id).toBe(cancelled.provider_thread_id);
    expect(cancelled.provider_thread_id).not.toBeNull();
    expect(next.state).toBe('succeeded');
  });

  it('[45] spawns a child, approves what it asks, and has its answer from the same conversation', async () => {
    const session = await rig.session();
    const run = await rig.over(await rig.say(session, 'delegate'));
    expect(run).toMatchObject({ state: 'succeeded', result_text: 'The child says: It is green.' });
    const { children } = (await rig.get(`/sessions/${session}`)).body as unknown as {
      children: readonly { session_id: string }[];
    };
    expect(children).toHaveLength(1);
    const child = children[0]?.session_id ?? '';
    expect(rig.types(child).filter((type) => type === 'thread.opened')).toHaveLength(1);
    expect(rig.types(session)).toEqual(
      expect.arrayContaining([
        'child.spawned',
        'escalation.requested',
        'escalation.answered',
        'child.finished',
      ]),
    );
  });
});
