import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { claude } from '../../../../src/agents/claude.js';
import { scripted } from '../../../../src/agents/scripted.js';
import type { AgentAdapter } from '../../../../src/agents/contract.js';
import { takeHook } from '../../../../src/services/supervise/take-hook.js';
import { EngineRig } from '../../../support/engine-rig.js';
import { createFakeSession } from '../../../support/fake-session.js';

let rig: EngineRig;
beforeEach(() => {
  rig = new EngineRig();
});
afterEach(() => rig.close());

const PROMPT = { hook_event_name: 'UserPromptSubmit', session_id: 'x', prompt: 'do it' };

describe('a hook of an agent whose client has not asked for our tools yet', () => {
  /** Whether the hook was answered, at any time. */
  async function told(body: unknown, adapter: AgentAdapter = claude) {
    const { session, live } = createFakeSession(rig);
    const engine = Object.assign(Object.create(live.engine) as typeof live.engine, {
      hook: async () => null,
    });
    const at = { ...live, engine, agent: () => ({ adapter, binary: '/nowhere' }) };
    const workerId = 'w01';
    await rig.working(workerId);
    void live.toolsSeen.expect(workerId);
    let answered = false;
    const hungUp = new AbortController().signal;
    void takeHook({ ...session, live: at }, workerId, { body, hungUp }).then(() => (answered = true));
    await rig.clock.advance(0);
    return { answered: () => answered, live, workerId };
  }

  it('is answered only a moment after it has, if it tells of a prompt', async () => {
    const { answered, live, workerId } = await told(PROMPT);
    expect(answered()).toBe(false);
    live.toolsSeen.listed(workerId);
    await rig.clock.advance(499);
    expect(answered()).toBe(false);
    await rig.clock.advance(1);
    expect(answered()).toBe(true);
  });

  it('is answered after a while all the same, and the next one at once', async () => {
    const { answered, live, workerId } = await told(PROMPT);
    await rig.clock.advance(20_000);
    expect(answered()).toBe(true);
    expect(live.toolsSeen.awaited(workerId)).toBeNull();
  });

  it.each([
    { what: 'it tells of something else', hook: { hook_event_name: 'Notification' }, adapter: claude },
    { what: 'its client asks for tools when it needs them', hook: PROMPT, adapter: scripted },
  ])('is answered at once if $what', async ({ hook, adapter }) => {
    expect((await told({ session_id: 'x', ...hook }, adapter)).answered()).toBe(true);
  });
});
