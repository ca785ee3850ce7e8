import type { AgentAdapter } from './contract.js';

export const kilocode: AgentAdapter = {
  name: 'kilocode',
  displayName: 'Kilo Code',
  binaries: ['kilocode'],
  kind: 'ide',
  scores: { orchestrate: 5, implement: 5 },
  capabilities: { parallel: false, mcp: false },
  versionArgs: ['--version'],
  guardVariables: [],
  interactive: null,
  headless: null,
};
