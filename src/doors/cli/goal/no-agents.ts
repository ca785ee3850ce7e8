import { OrchestratorError } from '../../../core/errors/error.js';
import type { KnownAgent } from '../host.js';

/** Nobody is there to work: the error names what to install. */
export function noAgents(wanted: readonly string[], known: readonly KnownAgent[]): OrchestratorError {
  return new OrchestratorError('NO_AGENTS', { wanted, valid: [leadsToInstall(known)] });
}

/** "Name (program) or Name (program)": who is looked for and can do everything. */
export function leadsToInstall(known: readonly KnownAgent[]): string {
  return known
    .filter((agent) => agent.launchableAsLead && agent.mcp && !agent.onlyByName)
    .map(({ displayName, name }) => `${displayName} (${name})`)
    .join(' or ');
}
