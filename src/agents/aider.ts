import type { AgentAdapter } from './contract.js';

export const aider: AgentAdapter = {
  name: 'aider',
  displayName: 'Aider',
  binaries: ['aider'],
  kind: 'cli',
  scores: { orchestrate: 6, implement: 8 },
  capabilities: { parallel: true, mcp: false },
  versionArgs: ['--version'],
  guardVariables: [],
  interactive: null,
  headless: null,
};
