import type { AgentAdapter } from './contract.js';

export const kiro: AgentAdapter = {
  name: 'kiro',
  displayName: 'Kiro',
  binaries: ['kiro', 'kiro-cli', 'kirocli'],
  kind: 'cli',
  scores: { orchestrate: 9, implement: 9 },
  capabilities: { parallel: true, mcp: true },
  versionArgs: ['--version'],
  guardVariables: ['Q_TERM', 'QTERM_SESSION_ID'],
  interactive: null,
  headless: null,
};
