import type { AgentAdapter } from '../agents/contract.js';
import { launchOf } from '../agents/registry.js';
import type { KnownAgent } from '../doors/cli/host.js';

export function knownAgents(agents: readonly AgentAdapter[]): readonly KnownAgent[] {
  return agents.map((agent) => ({
    name: agent.name,
    displayName: agent.displayName,
    mcp: agent.capabilities.mcp,
    launchable: agent.interactive !== null || agent.headless !== null,
    launchableAsLead: agent.interactive !== null,
    launchableInForeground: launchOf(agent, 'foreground') !== null,
    onlyByName: agent.onlyByName ?? false,
    options: agent.options ?? [],
  }));
}
