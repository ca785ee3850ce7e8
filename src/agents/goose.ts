import type { AgentAdapter } from './contract.js';

export const goose: AgentAdapter = {
  name: 'goose',
  displayName: 'Goose',
  binaries: ['goose'],
  kind: 'cli',
  scores: { orchestrate: 7, implement: 7 },
  capabilities: { parallel: true, mcp: true },
  versionArgs: ['--version'],
  guardVariables: ['GOOSE_TERMINAL', 'AGENT_SESSION_ID'],
  interactive: null,
  headless: null,
};
