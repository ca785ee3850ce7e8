import { afterEach, describe, expect, it } from 'vitest';
import { ALLOWED, crew, GOAL, VERIFY } from '../support/real-agents/crew.js';
import { RealRig } from '../support/real-agents/rig.js';

let rig: RealRig;
afterEach(() => rig.close(), 120_000);

const codexInPane = { agent: 'codex', backend: 'tmux' } as const;
const codexHeadless = { agent: 'codex', backend: 'headless' } as const;
const claudeInPane = { agent: 'claude', backend: 'tmux' } as const;
const claudeHeadless = { agent: 'claude', backend: 'headless' } as const;

describe('a mixed crew, led by Claude Code in a pane', () => {
  it.each([
    { slug: codexInPane, words: claudeHeadless },
    { slug: claudeInPane, words: codexHeadless },
  ])(
    'of $slug.agent in $slug.backend and $words.agent in $words.backend brings one verified branch home',
    async (workers) => {
      rig = await RealRig.create({ rules: crew({ workers }), sampleProject: true, settings: ALLOWED });
      await rig.startWith('claude', {
        ...{ goal: GOAL, verify_commands: VERIFY },
        worker_agents: ['claude', 'codex'],
      });
      const ended = await rig.event('end of session', ({ type }) => type === 'session.ended', 180_000);
      expect(ended.data).toMatchObject({ state: 'done' });
      const crewOf = rig.store.workers(rig.sessionId).map(({ agent, backend }) => `${agent} ${backend}`);
      expect(crewOf).toEqual([
        'claude tmux',
        `${workers.slug.agent} ${workers.slug.backend}`,
        `${workers.words.agent} ${workers.words.backend}`,
      ]);
      const branch = `agentorchestr/${rig.sessionId}/integration`;
      expect(rig.repo.git('show', `${branch}:src/tools.js`)).toContain('{ capitalize, slug, words }');
    },
  );
});
