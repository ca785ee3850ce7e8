import { describe, expect, it } from 'vitest';
import { AGENTS, findAgent, guardVariables } from '../../../src/agents/registry.js';
import { OrchestratorError } from '../../../src/core/errors/error.js';

const row = (agent: (typeof AGENTS)[number]) => [
  agent.name,
  agent.kind,
  agent.scores.orchestrate,
  agent.scores.implement,
  agent.capabilities.parallel,
  agent.capabilities.mcp,
];

describe('the agent registry', () => {
  it('knows every agent of the table with its kind, scores and capabilities', () => {
    expect(AGENTS.filter((agent) => agent.onlyByName !== true).map(row)).toEqual([
      ['claude', 'sdk', 10, 10, true, true],
      ['openclaude', 'cli', 9, 9, true, true],
      ['kiro', 'cli', 9, 9, true, true],
      ['opencode', 'cli', 8, 9, true, true],
      ['gemini', 'cli', 8, 8, true, true],
      ['codex', 'cli', 7, 8, true, true],
      ['goose', 'cli', 7, 7, true, true],
      ['amp', 'cli', 7, 8, true, true],
      ['aider', 'cli', 6, 8, true, false],
      ['cursor', 'ide', 4, 9, false, true],
      ['windsurf', 'ide', 4, 9, false, true],
      ['copilot', 'gh', 3, 7, false, true],
      ['kilocode', 'ide', 5, 5, false, false],
    ]);
  });

  it('has each name once, and one agent that is chosen by name alone: the scripted one', () => {
    expect(new Set(AGENTS.map((agent) => agent.name)).size).toBe(AGENTS.length);
    expect(AGENTS.filter((agent) => agent.onlyByName === true).map((agent) => agent.name)).toEqual([
      'scripted',
    ]);
  });

  it('says which agents can be started yet', () => {
    expect(AGENTS.filter((agent) => agent.interactive !== null).map((agent) => agent.name)).toEqual([
      'claude',
      'codex',
      'scripted',
    ]);
    expect(AGENTS.filter((agent) => agent.headless !== null).map((agent) => agent.name)).toEqual([
      'claude',
      'codex',
      'scripted',
    ]);
  });

  it('finds an agent by its name', () => {
    expect(findAgent('goose').displayName).toBe('Goose');
  });

  it.each([
    ['claud', ['claude']],
    ['claude-code', ['claude']],
    ['Gemni', ['gemini']],
    ['copilt', ['copilot']],
    ['opencoded', ['opencode']],
  ])('names the nearest agents for the unknown name %s', (name, valid) => {
    expect(errorOf(() => findAgent(name))).toMatchObject({
      code: 'UNKNOWN_AGENT',
      params: { agent: name, valid },
    });
  });

  it('names all agents when none is near', () => {
    expect(errorOf(() => findAgent('zzzzzzzz')).params['valid']).toEqual(AGENTS.map((agent) => agent.name));
  });

  it('collects what must be hidden from agents that run inside another', () => {
    const variables = guardVariables();
    expect(variables).toEqual(
      expect.arrayContaining(['CLAUDECODE', 'CLAUDE_CODE_ENTRYPOINT', 'GEMINI_CLI', 'CODEX_SANDBOX']),
    );
    expect(variables).toEqual([...new Set(variables)].sort());
    // Keys and addresses that an agent needs are not guards.
    expect(variables.filter((name) => /KEY|TOKEN|BASE_URL|HOME|CONFIG/.test(name))).toEqual([]);
  });
});

function errorOf(act: () => unknown): OrchestratorError {
  try {
    act();
  } catch (error) {
    if (error instanceof OrchestratorError) return error;
  }
  throw new Error('nothing was thrown');
}
