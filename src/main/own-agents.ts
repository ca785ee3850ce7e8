import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { withOwnAgents } from '../agents/own/adapter.js';
import { ownAgentsSchema } from '../agents/own/schema.js';
import type { AgentAdapter } from '../agents/contract.js';
import { EMBEDDED } from '../agents/embedded.js';
import { AGENTS } from '../agents/registry.js';
import { validated } from '../config/problem.js';
import { parseToml } from '../config/toml-file.js';
import { OrchestratorError } from '../core/errors/error.js';
import type { Paths } from '../platform/paths.js';

/**
 * Every agent there is for this person: ours, and those of agents.toml in their own folder. A project has no such file:
 * what is started is theirs to say. Throws SETTINGS_INVALID, FILE_NOT_READABLE.
 */
export function readAgents(paths: Pick<Paths, 'config'>): readonly AgentAdapter[] {
  const path = join(paths.config, 'agents.toml');
  const text = readIfThere(path);
  if (text === null) return AGENTS;
  return withOwnAgents(AGENTS, validated(parseToml(path, text), ownAgentsSchema).agents);
}

/** And the models that can be asked without a program, for conversations. Throws as `readAgents` does. */
export function readConversationAgents(paths: Pick<Paths, 'config'>): readonly AgentAdapter[] {
  return [...readAgents(paths), ...EMBEDDED];
}

function readIfThere(path: string): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    const problem = error instanceof TypeError ? 'it is not valid UTF-8' : (error as Error).message;
    throw new OrchestratorError('FILE_NOT_READABLE', { path, problem }, { cause: error });
  }
}
