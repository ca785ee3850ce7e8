import type { AgentAdapter } from './contract.js';

export const opencode: AgentAdapter = {
  name: 'opencode',
  displayName: 'OpenCode',
  binaries: ['opencode'],
  kind: 'cli',
  scores: { orchestrate: 8, implement: 9 },
  capabilities: { parallel: true, mcp: true },
  versionArgs: ['--version'],
  guardVariables: ['OPENCODE', 'OPENCODE_PID', 'OPENCODE_CLIENT', 'OPENCODE_RUN_ID'],
  interactive: null,
  headless: null,
};
