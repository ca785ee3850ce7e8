import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { says, type Rule } from '../support/mock-llm/reply.js';
import { GATEWAY_START_MS } from '../support/gateway-rig.js';
import { RealGateway } from '../support/real-agents/gateway.js';

/** Says how much it answered before in this conversation, and what it was told now. */
const ECHO: Rule = {
  name: 'echo',
  when: says('word'),
  steps: [],
  play: ({ prompt, conversation: { turns } }) => ({
    text: `${turns.filter(({ role }) => role === 'assistant').length} before; told: ${prompt}`,
  }),
};

/** Only that agent's model: they ask under names of their own. */
const refusing = (agent: string): Rule => ({
  name: 'refused',
  when: ({ prompt, conversation: { model } }) =>
    prompt.endsWith(`refuse ${agent}`) && model.includes('claude') === (agent === 'claude'),
  steps: [{ fail: { status: 400, message: 'Your credit balance is too low' } }],
});

describe.each([
  ['claude', 'codex'],
  ['codex', 'claude'],
])('%s, and %s after it', (first, second) => {
  let rig: RealGateway;
  beforeAll(async () => {
    rig = await RealGateway.begin(first, [refusing(first), ECHO]);
  }, GATEWAY_START_MS);
  afterAll(() => rig.close(), 60_000);

  it('[57] has a conversation of its own each, and is told once what was said with the other', async () => {
    const session = await rig.session();
    const change = (provider: string) => rig.call('PATCH', `/sessions/${session}`, { provider });
    const one = await rig.over(await rig.say(session, 'word one'));
    expect(one).toMatchObject({ provider: first, result_text: '0 before; told: word one' });
    await change(second);
    const two = await rig.over(await rig.say(session, 'word two'));
    expect(two).toMatchObject({ state: 'succeeded', provider: second });
    expect(two.result_text).toMatch(/^0 before; told: [^]*\nword one\n\[answer\]\n0 before[^]*\nword two$/);
    const three = await rig.over(await rig.say(session, 'word three'));
    expect(three.result_text).toBe('1 before; told: word three');
    await change(first);
    const four = await rig.over(await rig.say(session, 'word four'));
    expect(four.provider_thread_id).toBe(one.provider_thread_id);
    expect(four.result_text).toMatch(/^1 before; told: [^]*word two[^]*word three[^]*\nword four$/);
    const five = await rig.over(await rig.say(session, 'word five'));
    expect(five.result_text).toBe('2 before; told: word five');
    expect((await rig.get(`/sessions/${session}`)).body.session.provider_threads).toMatchObject({
      [first]: { thread_id: one.provider_thread_id },
      [second]: { thread_id: two.provider_thread_id },
    });
    expect(rig.types(session)).not.toContain('thread.lost');
  });

  it('[59] stands in where the first is not let in, and says so', async () => {
    const session = (await rig.post('/sessions', { providers: [first, second] })).body.session.id;
    const run = await rig.over(await rig.say(session, `word one, refuse ${first}`));
    expect(run).toMatchObject({ state: 'succeeded', provider: second });
    expect(run.result_text).toBe(`0 before; told: word one, refuse ${first}`);
    expect(rig.types(session)).toContain('worker.switched');
    const next = await rig.over(await rig.say(session, 'word two'));
    expect(next).toMatchObject({ state: 'succeeded', provider: first });
    expect(next.result_text).toContain('told: word one, refuse');
  });
});
