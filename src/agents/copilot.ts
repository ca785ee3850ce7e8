import type { AgentAdapter } from './contract.js';

export const copilot: AgentAdapter = {
  name: 'copilot',
  displayName: 'GitHub Copilot',
  binaries: ['gh'],
  kind: 'gh',
  scores: { orchestrate: 3, implement: 7 },
  capabilities: { parallel: false, mcp: true },
  versionArgs: ['--version'],
  detectBy: { args: ['extension', 'list'], expect: /\bgh-copilot\b/ },
  guardVariables: ['COPILOT_CLI'],
  interactive: null,
  headless: null,
};
