import { codexHeadless } from './codex/headless.js';
import { codexInteractive } from './codex/interactive.js';
import type { AgentAdapter } from './contract.js';

export const codex: AgentAdapter = {
  name: 'codex',
  displayName: 'Codex',
  binaries: ['codex'],
  kind: 'cli',
  scores: { orchestrate: 7, implement: 8 },
  capabilities: { parallel: true, mcp: true },
  versionArgs: ['--version'],
  guardVariables: ['CODEX_SANDBOX', 'CODEX_SANDBOX_NETWORK_DISABLED', 'CODEX_THREAD_ID', 'CODEX_CI'],
  options: [{ name: 'model', summary: 'the model it starts with', required: false, file: false }],
  gateway: { status: 'codex', invocation: 'codex_invocation' },
  interactive: codexInteractive,
  headless: codexHeadless,
};
