import type { AgentAdapter } from '../agents/contract.js';
import { findAgent, launchOf, missingOption } from '../agents/registry.js';
import { OrchestratorError } from '../core/errors/error.js';
import { existingFile, unknownOption } from '../doors/cli/goal/agent-options.js';
import type { AgentdOptions } from '../doors/cli/agentd-options.js';
import { isFolder } from '../platform/disk.js';
import { optionMissing } from '../services/gateway/agents.js';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * What is set for agents, with absolute paths. Throws UNKNOWN_AGENT, USAGE for a setting that the agent does not have,
 * FILE_NOT_READABLE for one that names a file that is not there: a typing error must not wait for the first run.
 */
export async function checkedAgentOptions(
  { agentOptions }: Pick<AgentdOptions, 'agentOptions'>,
  agents: readonly AgentAdapter[],
  env: Environment,
): Promise<AgentdOptions['agentOptions']> {
  const checked: Record<string, Record<string, string>> = {};
  for (const [name, given] of Object.entries(agentOptions)) {
    const { options = [] } = findAgent(name, agents);
    const mine: Record<string, string> = {};
    for (const [key, value] of Object.entries(given)) {
      const option = options.find((one) => one.name === key);
      if (option === undefined) throw unknownOption({ name, options }, key);
      mine[key] = option.file ? await existingFile(`--agent-option ${name}.${key}`, value, env) : value;
    }
    checked[name] = mine;
  }
  return checked;
}

/**
 * Throws UNKNOWN_AGENT, AGENT_NOT_LAUNCHABLE, AGENT_OPTION_MISSING, USAGE for a folder that is not there. Programs may
 * come later.
 */
export async function checkPlaces(
  {
    provider,
    folder,
    roots,
    agentOptions,
  }: Pick<AgentdOptions, 'provider' | 'folder' | 'roots' | 'agentOptions'>,
  agents: readonly AgentAdapter[],
): Promise<void> {
  if (provider !== null && launchOf(findAgent(provider, agents), 'headless') === null) {
    const valid = agents.filter((one) => launchOf(one, 'headless') !== null).map(({ name }) => name);
    throw new OrchestratorError('AGENT_NOT_LAUNCHABLE', { agent: provider, valid });
  }
  const missing = provider === null ? null : missingOption(findAgent(provider, agents), agentOptions);
  if (provider !== null && missing !== null) throw optionMissing(provider, missing);
  const named = [['--default-cwd', folder] as const, ...roots.map((root) => ['--allow-root', root] as const)];
  for (const [flag, path] of named)
    if (!(await isFolder(path)))
      throw new OrchestratorError('USAGE', {
        problem: `${flag} ${path}: there is no such folder`,
        hint: 'make it first, or name another one',
      });
}
