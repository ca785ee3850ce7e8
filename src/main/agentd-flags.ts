import type { AgentAdapter } from '../agents/contract.js';
import type { AgentFlag } from '../doors/cli/agentd-help.js';

/** What agents add to the flags of agentd. */
export function agentFlags(agents: readonly AgentAdapter[]): readonly AgentFlag[] {
  return agents.flatMap(({ name: agent, gateway, options = [] }) =>
    (gateway?.flags ?? []).map((flag) => ({
      ...flag,
      agent,
      summary: options.find(({ name }) => name === flag.option)?.summary ?? '',
    })),
  );
}
