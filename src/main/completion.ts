import { offeredCommands as offeredAgentctl } from '../doors/agentctl/completion.js';
import { agentdFlags, offeredAgentd, offeredCommands } from '../doors/cli/completion.js';
import { nested } from '../doors/shared/completion/offers.js';
import { completionScript, type Shell } from '../doors/shared/completion/script.js';
import type { AgentAdapter } from '../agents/contract.js';
import { GATEWAY_OPERATIONS } from '../services/gateway/operations/index.js';
import { agentFlags } from './agentd-flags.js';

/** Of agentorchestr, with the programs that are its `serve` and `gateway`. */
export function agentorchestrScript(shell: Shell, agents: readonly AgentAdapter[]): string {
  const flags = agentFlags(agents);
  return completionScript(shell, 'agentorchestr', [
    ...offeredCommands(),
    ...nested([offeredAgentd(flags)], 'serve'),
    ...nested(offeredAgentctl(GATEWAY_OPERATIONS, agentdFlags(flags)), 'gateway'),
  ]);
}

/** Of agentctl. */
export function agentctlScript(shell: Shell, agents: readonly AgentAdapter[]): string {
  return completionScript(
    shell,
    'agentctl',
    offeredAgentctl(GATEWAY_OPERATIONS, agentdFlags(agentFlags(agents))),
  );
}
