import type { AgentAdapter } from '../agents/contract.js';
import { guardVariables } from '../agents/registry.js';
import { userEnvironment } from '../platform/launch/environment.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Variables of ours that no agent and no command of the project inherits. */
export const OWN_PREFIXES = ['AGENTORCHESTR_'] as const;

/** In which an agent finds its token. */
export const TOKEN_VARIABLE = 'AGENTORCHESTR_TOKEN';

/** The user's environment as setup and verify commands get it: without our variables and nested-agent guards. */
export function commandEnvironment(
  env: Environment,
  agents: readonly AgentAdapter[],
): Record<string, string> {
  return userEnvironment(env, { guardVariables: guardVariables(agents), ownPrefixes: OWN_PREFIXES });
}
