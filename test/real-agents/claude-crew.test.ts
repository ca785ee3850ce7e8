import { afterEach, expect, it } from 'vitest';
import { ALLOWED, crew, GOAL, VERIFY } from '../support/real-agents/crew.js';
import { ClaudeRig } from '../support/real-agents/rig.js';

let rig: ClaudeRig;
afterEach(() => rig.close(), 120_000);

it('a lead and two workers: a question, a conflict sent back, one verified branch', async () => {
  rig = await ClaudeRig.create({ rules: crew(), sampleProject: true, settings: ALLOWED });
  await rig.startClaude({ goal: GOAL, verify_commands: VERIFY, bypass_permissions: false });
  const ended = await rig.event('end of session', ({ type }) => type === 'session.ended', 120_000);
  expect(ended.data).toMatchObject({ state: 'done' });
  const branch = `agentorchestr/${rig.sessionId}/integration`;
  expect(rig.repo.git('show', `${branch}:src/tools.js`)).toContain('{ capitalize, slug, words }');
});
