import { afterEach, describe, expect, it } from 'vitest';
import { GATEWAY_START_MS, GatewayRig, readStream } from '../../support/gateway-rig.js';

const SCRIPT = `
name: gateway
workers:
  - match: say (?<what>\\w+)
    steps: [{ say: "I say {{what}}" }]
  - contains: work
    steps: [{ run: echo made > made.txt }, { say: made it }]
  - match: until (?<file>\\S+)
    steps: [{ say: waiting }, { run: "until test -e {{file}}; do sleep 0.05; done" }, { say: "saw it" }]
`;

let rig: GatewayRig;
afterEach(() => rig.close());

describe('one whole way', () => {
  it(
    '[15] a message makes a run, its answer is a message and events, and all of it survives a restart',
    { timeout: GATEWAY_START_MS },
    async () => {
      rig = await GatewayRig.start(SCRIPT);
      const session = await rig.session();
      const { status, body } = await rig.post(`/sessions/${session}/messages`, { text: 'say hello' });
      expect({ status, run: body.run }).toMatchObject({
        status: 202,
        run: { session_id: session, prompt: 'say hello', provider: 'scripted' },
      });
      expect(await rig.over(body.run.id)).toMatchObject({ state: 'succeeded', result_text: 'I say hello' });

      await rig.running.stop();
      await rig.start();
      expect((await rig.get(`/runs/${body.run.id}`)).body.run).toMatchObject({ result_text: 'I say hello' });
      const { messages } = (await rig.get(`/sessions/${session}/messages`)).body;
      expect(messages).toMatchObject([
        { role: 'user', text: 'say hello', receipt: 'answered' },
        { role: 'assistant', text: 'I say hello', run_id: body.run.id },
      ]);
      const frames = await readStream(rig, `/sessions/${session}/stream`, (all) =>
        all.some(({ event }) => event === 'run.succeeded'),
      );
      expect(frames.map(({ event }) => event)).toEqual(
        expect.arrayContaining(['session.created', 'message.accepted', 'run.started', 'text.completed']),
      );
    },
  );
});
