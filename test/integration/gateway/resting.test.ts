import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GATEWAY_START_MS, GatewayRig } from '../../support/gateway-rig.js';
import { createSkipClock } from '../../support/skip-clock.js';

const SCRIPT = `
name: resting
workers:
  - match: say (?<what>\\w+)
    steps: [{ say: "I say {{what}}" }]
  - contains: be silent
    steps: [{ say: silent now }, { silence: true }]
`;
const IDLE_S = 600;
const MINUTE = 60_000;

const time = createSkipClock();
let rig: GatewayRig;
beforeAll(async () => {
  rig = await GatewayRig.start(SCRIPT, ['--idle-timeout', String(IDLE_S)], { clock: time });
}, GATEWAY_START_MS);
afterAll(() => rig.close());

/** Its agent is in its turn, and says no more. */
async function silent(): Promise<{ session: string; run: string }> {
  const session = await rig.session();
  const run = await rig.say(session, 'be silent');
  await rig.until('its last word', () => rig.types(session).includes('text.completed'));
  return { session, run };
}

const state = (run: string) => rig.store.run(run)?.state;

describe('a conversation in which nothing happens', () => {
  it('holds nothing of the daemon after a while, and goes on in the same thread with the next message', async () => {
    const session = await rig.session();
    await rig.over(await rig.say(session, 'say one'));
    await rig.until('the end of its process', () => rig.types(session).includes('run.attempt_ended'));
    expect(rig.store.lease(session)).not.toBeNull();
    time.skip(2 * MINUTE);
    expect(rig.store.lease(session)).toBeNull();
    const next = await rig.over(await rig.say(session, 'say two'));
    expect(next).toMatchObject({ state: 'succeeded', result_text: 'I say two' });
    expect(rig.types(session).filter((type) => type === 'thread.opened')).toHaveLength(1);
    expect(rig.types(session)).not.toContain('thread.lost');
  });

  it('is not forgotten while a turn of it runs', async () => {
    const { session, run } = await silent();
    time.skip(2 * MINUTE);
    expect(rig.store.lease(session)).not.toBeNull();
    await rig.post(`/runs/${run}/cancel`);
    expect(await rig.over(run)).toMatchObject({ state: 'cancelled' });
  });
});

describe('--idle-timeout', () => {
  it('ends a run whose agent gives no sign for so long, with its process, and says why', async () => {
    const { session, run } = await silent();
    await time.pass(2 * IDLE_S * 1_000, async () => {
      if (state(run) !== 'timed_out') await new Promise((resolve) => setTimeout(resolve, 0));
    });
    const over = await rig.over(run);
    expect(over).toMatchObject({ state: 'timed_out' });
    expect(rig.store.run(run)).toMatchObject({
      summary: expect.stringMatching(/no sign for 1\d min/),
      evidence: 'silence',
    });
    expect(rig.types(session)).toContain('run.stalled');
    await rig.until('the end of its process', () => rig.types(session).includes('run.attempt_ended'));
  });

  it('does not end one whose agent waits for an answer of ours', async () => {
    const { run } = await silent();
    const child = await rig.post(`/runs/${run}/spawn`, { task: 'be silent' });
    const waits = fetch(`${rig.running.url}/runs/${child.body.run.id}/wait?timeout_s=3600`, {
      headers: { authorization: `Bearer ${rig.agentToken(run)}` },
    });
    await rig.until('the child', () => rig.types(child.body.session.id).includes('text.completed'));
    for (let part = 0; part < 8 && state(child.body.run.id) !== 'timed_out'; part++) {
      time.skip((IDLE_S * 1_000) / 2);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    // The child was silent by itself.
    await rig.until('the end of the child', () => state(child.body.run.id) === 'timed_out');
    expect((await waits).status).toBe(200);
    expect(state(run)).toBe('running');
    await rig.post(`/runs/${run}/cancel`);
    await rig.over(run);
  });
});
