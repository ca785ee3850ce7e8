import type { AgentAdapter } from '../agents/contract.js';
import { guardVariables } from '../agents/registry.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Variables of ours that no agent and no command of the project inherits. */
export const OWN_PREFIXES = ['AGENTORCHESTR_'] as const;

/** The user's environment as setup and verify commands get it: without our variables and nested-agent guards. */
export function commandEnvironment(
  env: Environment,
  agents: readonly AgentAdapter[],
): Record<string, string> {
  const guards = new Set(guardVariables(agents));
  return Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined &&
        !guards.has(entry[0]) &&
        !OWN_PREFIXES.some((prefix) => entry[0].startsWith(prefix)),
    ),
  );
}
