import type { AgentAdapter } from './contract.js';

export const windsurf: AgentAdapter = {
  name: 'windsurf',
  displayName: 'Windsurf',
  binaries: ['windsurf'],
  kind: 'ide',
  scores: { orchestrate: 4, implement: 9 },
  capabilities: { parallel: false, mcp: true },
  versionArgs: ['--version'],
  guardVariables: [],
  interactive: null,
  headless: null,
};
