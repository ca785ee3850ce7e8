import { stat } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { OrchestratorError } from '../../../core/errors/error.js';
import type { CliHost, KnownAgent } from '../host.js';
import { nearest } from '../nearest.js';

export type AgentOptions = Record<string, Record<string, string>>;

/** Reads `--agent-option NAME.KEY=VALUE`. Files are taken relative to the folder one types in. Throws USAGE, UNKNOWN_AGENT. */
export async function readAgentOptions(
  given: readonly string[],
  host: Pick<CliHost, 'env' | 'knownAgents'>,
): Promise<AgentOptions> {
  const options: AgentOptions = {};
  for (const text of given) {
    const [, name = '', key = '', value = ''] = /^([^.=]+)\.([^.=]+)=(.*)$/s.exec(text) ?? badForm(text);
    const agent = findAgent(name, host.knownAgents());
    const option = agent.options.find((known) => known.name === key);
    if (option === undefined) throw unknownOption(agent, key);
    if (value === '')
      throw new OrchestratorError('USAGE', {
        problem: `--agent-option ${name}.${key} has an empty value`,
        hint: option.summary,
      });
    options[name] = {
      ...options[name],
      [key]: option.file ? await existingFile(text, value, host.env) : value,
    };
  }
  return options;
}

/** Throws USAGE when an agent that will be started lacks a setting it cannot do without. */
export function checkRequiredOptions(
  names: readonly string[],
  options: AgentOptions,
  known: readonly KnownAgent[],
): void {
  for (const agent of known.filter((candidate) => names.includes(candidate.name))) {
    const missing = agent.options.find(
      (option) => option.required && options[agent.name]?.[option.name] === undefined,
    );
    if (missing === undefined) continue;
    throw new OrchestratorError('USAGE', {
      problem: `${agent.name} needs its ${missing.name}: ${missing.summary}`,
      hint: `give it with --agent-option ${agent.name}.${missing.name}=${missing.file ? 'FILE' : 'VALUE'}`,
    });
  }
}

function badForm(text: string): never {
  throw new OrchestratorError('USAGE', {
    problem: `--agent-option "${text}" is not of the form NAME.KEY=VALUE`,
    hint: 'write the agent, a dot, the setting, an equals sign and the value',
  });
}

function findAgent(name: string, known: readonly KnownAgent[]): KnownAgent {
  const agent = known.find((candidate) => candidate.name === name);
  if (agent !== undefined) return agent;
  throw new OrchestratorError('UNKNOWN_AGENT', {
    agent: name,
    valid: known.map((candidate) => candidate.name),
  });
}

function unknownOption(agent: KnownAgent, key: string): OrchestratorError {
  const names = agent.options.map((option) => option.name);
  const meant = nearest(key, names);
  const settings =
    names.length === 0 ? `${agent.name} has no settings` : `settings of ${agent.name}: ${names.join(', ')}`;
  return new OrchestratorError('USAGE', {
    problem: `--agent-option: ${agent.name} has no setting "${key}"`,
    hint: meant === null ? settings : `did you mean ${agent.name}.${meant}?`,
  });
}

async function existingFile(text: string, value: string, env: CliHost['env']): Promise<string> {
  const path = isAbsolute(value) ? value : resolve(expandHome(value, env));
  const isFile = await stat(path).then(
    (info) => info.isFile(),
    () => false,
  );
  if (!isFile)
    throw new OrchestratorError('FILE_NOT_READABLE', {
      path,
      problem: `no such file (--agent-option ${text})`,
    });
  return path;
}

/** `--flag=~/x` reaches us as it stands: the shell expands a tilde only at the start of a word. */
export function expandHome(path: string, env: CliHost['env']): string {
  const home = env['HOME'];
  return home !== undefined && (path === '~' || path.startsWith('~/')) ? join(home, path.slice(1)) : path;
}
