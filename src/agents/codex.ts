import { codexHeadless } from './codex/headless.js';
import { codexInteractive } from './codex/interactive.js';
import { codexSetUp } from './codex/set-up.js';
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
  options: [
    { name: 'model', summary: 'the model it starts with', required: false, file: false },
    { name: 'profile', summary: 'a profile of its own settings', required: false, file: false },
    { name: 'extra_args', summary: 'arguments of its own, one a line', required: false, file: false },
  ],
  gateway: {
    ...{ status: 'codex', invocation: 'codex_invocation' },
    flags: [
      { flag: 'codex-profile', option: 'profile', variable: 'AGENTD_CODEX_PROFILE', many: false },
      { flag: 'codex-extra-arg', option: 'extra_args', variable: null, many: true },
    ],
  },
  setUp: codexSetUp,
  interactive: codexInteractive,
  headless: codexHeadless,
};
