import type { AgentAdapter } from './contract.js';

export const cursor: AgentAdapter = {
  name: 'cursor',
  displayName: 'Cursor',
  binaries: ['cursor'],
  kind: 'ide',
  scores: { orchestrate: 4, implement: 9 },
  capabilities: { parallel: false, mcp: true },
  versionArgs: ['--version'],
  guardVariables: ['CURSOR_AGENT', 'CURSOR_TRACE_ID'],
  interactive: null,
  headless: null,
};
