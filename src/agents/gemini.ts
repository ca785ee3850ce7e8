import type { AgentAdapter } from './contract.js';

export const gemini: AgentAdapter = {
  name: 'gemini',
  displayName: 'Gemini CLI',
  binaries: ['gemini', 'gemini-cli'],
  kind: 'cli',
  scores: { orchestrate: 8, implement: 8 },
  capabilities: { parallel: true, mcp: true },
  versionArgs: ['--version'],
  guardVariables: ['GEMINI_CLI', 'GEMINI_CLI_NO_RELAUNCH'],
  interactive: null,
  headless: null,
};
