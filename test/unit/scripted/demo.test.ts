import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { newConversation } from '../../../src/scripted/conversation.js';
import { chooseRule } from '../../../src/scripted/play.js';
import { loadScript } from '../../../src/scripted/script-load.js';
import { parseProjectCommands } from '../../../src/services/context/project-files.js';

const demo = (name: string) => fileURLToPath(new URL(`../../../templates/demo/${name}`, import.meta.url));

describe('the demo that ships', () => {
  it('has a script without mistakes, whose lead starts at a goal', async () => {
    const script = await loadScript(demo('script.yaml'));
    const goal = readFileSync(demo('goal.md'), 'utf8');
    expect(chooseRule(script.lead, newConversation('lead', {}), `orders\n\n# Goal\n${goal}`)?.key).toBe(
      'plan',
    );
  });

  it('has one rule of its own for each worker that the lead spawns', async () => {
    const script = await loadScript(demo('script.yaml'));
    const tasks = (script.lead[0]?.steps ?? []).flatMap((step) =>
      step.action === 'call' && step.call === 'spawn_worker' ? [String(step.with['task'])] : [],
    );
    const fitting = (task: string) =>
      script.workers
        .filter((rule) => chooseRule([rule], newConversation('worker', {}), task) !== null)
        .map((rule) => rule.name);
    expect(tasks.map(fitting)).toEqual([['slug'], ['words'], ['refusals']]);
  });

  it('has a project that says how to set it up and how to verify it', () => {
    expect(
      parseProjectCommands(readFileSync(demo('project/.agentorchestr/PROJECT.md'), 'utf8'), 'PROJECT.md'),
    ).toEqual({
      setup: [{ label: 'runtime', command: 'node --version', source: 'PROJECT.md' }],
      verify: [
        { label: 'syntax', command: 'node --check src/tools.js', source: 'PROJECT.md' },
        { label: 'tests', command: 'node --test', source: 'PROJECT.md' },
      ],
    });
  });
});
