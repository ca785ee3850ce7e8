import type { AgentAdapter } from './contract.js';

export const claude: AgentAdapter = {
  name: 'claude',
  displayName: 'Claude Code',
  binaries: ['claude', 'claude-code'],
  kind: 'sdk',
  scores: { orchestrate: 10, implement: 10 },
  capabilities: { parallel: true, mcp: true },
  versionArgs: ['--version'],
  guardVariables: [
    'CLAUDECODE',
    'CLAUDE_CODE_ENTRYPOINT',
    'CLAUDE_CODE_SSE_PORT',
    'CLAUDE_CODE_SESSION_ID',
    'CLAUDE_CODE_CHILD_SESSION',
    'CLAUDE_PROJECT_DIR',
  ],
  interactive: null,
};
