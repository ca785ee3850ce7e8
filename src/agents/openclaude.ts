import type { AgentAdapter } from './contract.js';

export const openclaude: AgentAdapter = {
  name: 'openclaude',
  displayName: 'OpenClaude',
  binaries: ['openclaude'],
  kind: 'cli',
  scores: { orchestrate: 9, implement: 9 },
  capabilities: { parallel: true, mcp: true },
  versionArgs: ['--version'],
  guardVariables: ['OPENCLAUDE'],
  interactive: null,
  headless: null,
};
