import { stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { Origin, Resolved } from '../../../config/load.js';
import { agentOptionOf } from '../../../config/schema.js';
import { unknownKeyHint } from '../../../config/toml-file.js';
import { OrchestratorError } from '../../../core/errors/error.js';
import type { CliHost, KnownAgent } from '../host.js';
import { nearest } from '../../../core/nearest.js';

export type AgentOptions = Record<string, Record<string, string>>;

/**
 * Reads what is set, and `--agent-option NAME.KEY=VALUE` over it. Files are taken relative to the folder one types in,
 * or to the folder of the file that names them. Throws USAGE, UNKNOWN_AGENT, SETTINGS_INVALID.
 */
export async function readAgentOptions(
  given: readonly string[],
  host: Pick<CliHost, 'env' | 'knownAgents'>,
  settings: readonly Resolved[] = [],
): Promise<AgentOptions> {
  const options = await optionsThatAreSet(settings, host);
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
      [key]: option.file ? await existingFile(`--agent-option ${text}`, value, host.env) : value,
    };
  }
  return options;
}

async function optionsThatAreSet(
  settings: readonly Resolved[],
  host: Pick<CliHost, 'env' | 'knownAgents'>,
): Promise<AgentOptions> {
  const options: AgentOptions = {};
  for (const { key, value: given, origin } of settings) {
    const named = agentOptionOf(key.split('.'));
    if (named === null) continue;
    const wrong = (problem: string, hint: string) =>
      new OrchestratorError('SETTINGS_INVALID', { where: origin.where, problem, hint });
    const known = host.knownAgents();
    const agent = known.find(({ name }) => name === named.agent);
    if (agent === undefined) {
      const names = known.map(({ name }) => name);
      throw wrong(`no agent "${named.agent}"`, unknownKeyHint(named.agent, names));
    }
    const option = agent.options.find(({ name }) => name === named.option);
    if (option === undefined) {
      const names = agent.options.map(({ name }) => name);
      const hint = names.length === 0 ? 'it has no options' : unknownKeyHint(named.option, names);
      throw wrong(`${agent.name} has no option "${named.option}"`, hint);
    }
    const value = String(given);
    const folder = folderOf(origin, '.');
    options[agent.name] = {
      ...options[agent.name],
      [option.name]: option.file ? await existingFile(origin.where, value, host.env, folder) : value,
    };
  }
  return options;
}

/** What a path in a settings file is relative to; `otherwise` for what was typed or stands in a variable. */
export function folderOf({ from, where }: Origin, otherwise: string): string {
  return from === 'user' || from === 'project' ? dirname(where) : otherwise;
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

export function unknownOption(
  agent: { readonly name: string; readonly options: readonly { readonly name: string }[] },
  key: string,
): OrchestratorError {
  const names = agent.options.map((option) => option.name);
  const meant = nearest(key, names);
  const settings =
    names.length === 0 ? `${agent.name} has no settings` : `settings of ${agent.name}: ${names.join(', ')}`;
  return new OrchestratorError('USAGE', {
    problem: `--agent-option: ${agent.name} has no setting "${key}"`,
    hint: meant === null ? settings : `did you mean ${agent.name}.${meant}?`,
  });
}

/** Its absolute path. `where` it was named. Throws FILE_NOT_READABLE. */
export async function existingFile(
  where: string,
  value: string,
  env: CliHost['env'],
  folder = '.',
): Promise<string> {
  const path = isAbsolute(value) ? value : resolve(folder, expandHome(value, env));
  const isFile = await stat(path).then(
    (info) => info.isFile(),
    () => false,
  );
  if (!isFile)
    throw new OrchestratorError('FILE_NOT_READABLE', {
      path,
      problem: `no such file (${where})`,
    });
  return path;
}

/** `--flag=~/x` reaches us as it stands: the shell expands a tilde only at the start of a word. */
export function expandHome(path: string, env: CliHost['env']): string {
  const home = env['HOME'];
  return home !== undefined && (path === '~' || path.startsWith('~/')) ? join(home, path.slice(1)) : path;
}
