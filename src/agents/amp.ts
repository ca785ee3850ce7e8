import type { AgentAdapter } from './contract.js';

export const amp: AgentAdapter = {
  name: 'amp',
  displayName: 'Amp',
  binaries: ['amp'],
  kind: 'cli',
  scores: { orchestrate: 7, implement: 8 },
  capabilities: { parallel: true, mcp: true },
  versionArgs: ['--version'],
  guardVariables: ['AMP_CURRENT_THREAD_ID'],
  interactive: null,
  headless: null,
};
