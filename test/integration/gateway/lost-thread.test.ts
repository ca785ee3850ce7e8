import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { GATEWAY_START_MS, GatewayRig } from '../../support/gateway-rig.js';

const SCRIPT = `
name: lost thread
workers:
  - match: "(?<all>[\\\\s\\\\S]+)"
    steps: [{ say: "I was told: {{all}}" }]
`;

let rig: GatewayRig;
beforeAll(async () => {
  rig = await GatewayRig.start(SCRIPT);
}, GATEWAY_START_MS);
afterAll(() => rig.close());

it('[56] a thread that its agent does not know any more is begun anew once, with what was said and an event', async () => {
  const session = await rig.session();
  await rig.post(`/sessions/${session}/messages`, { role: 'system', text: 'Answer in rhymes.' });
  const first = await rig.over(await rig.say(session, 'the first word'));
  const conversations = join(`${rig.database}.files`, 'sessions', session, 'workers/w01/conversations');
  rmSync(conversations, { recursive: true });

  const second = await rig.over(await rig.say(session, 'the second word'));
  expect(second).toMatchObject({ state: 'succeeded', attempts: 2 });
  expect(second.provider_thread_id).not.toBe(first.provider_thread_id);
  for (const said of ['[system]\nAnswer in rhymes.', 'the first word', 'the second word'])
    expect(second.result_text).toContain(said);
  const types = rig.types(session);
  expect(types.filter((type) => type === 'thread.lost')).toHaveLength(1);
  expect(types.filter((type) => type === 'thread.opened')).toHaveLength(2);
  const third = await rig.over(await rig.say(session, 'the third word'));
  expect(third).toMatchObject({ attempts: 1, result_text: 'I was told: the third word' });
});
