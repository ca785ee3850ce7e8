import type { AgentAdapter } from '../agents/contract.js';
import { launchOf } from '../agents/registry.js';
import type { KnownAgent } from '../doors/cli/host.js';

export function knownAgents(agents: readonly AgentAdapter[]): readonly KnownAgent[] {
  return agents.map((agent) => ({
    name: agent.name,
    displayName: agent.displayName,
    mcp: agent.capabilities.mcp,
    ...whereLaunchable(agent),
    onlyByName: agent.onlyByName ?? false,
    options: agent.options ?? [],
  }));
}

/** In which places this version can start it. */
export function whereLaunchable(
  agent: AgentAdapter,
): Pick<KnownAgent, 'launchable' | 'launchableAsLead' | 'launchableInForeground'> {
  return {
    launchable: agent.interactive !== null || agent.headless !== null,
    launchableAsLead: agent.interactive !== null,
    launchableInForeground: launchOf(agent, 'foreground') !== null,
  };
}
