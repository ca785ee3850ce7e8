import { afterEach, expect, it } from 'vitest';
import { ClaudeRig } from '../support/real-agents/rig.js';
import { says } from '../support/mock-llm/reply.js';

let rig: ClaudeRig;
afterEach(() => rig.close(), 120_000);

it('a lead takes its goal, uses our tools and ends the session', async () => {
  rig = await ClaudeRig.create({
    rules: [
      {
        name: 'lead',
        when: says('# Goal'),
        steps: [
          { calls: [{ tool: 'list_workers', input: {} }] },
          { calls: [{ tool: 'mark_goal_done', input: { summary: 'nothing to do' } }] },
          { text: 'bye' },
        ],
      },
    ],
  });
  await rig.startClaude();
  await rig.event('end of session', ({ type }) => type === 'session.ended', 15_000);
  expect(rig.types()).toContain('goal.done');
});
