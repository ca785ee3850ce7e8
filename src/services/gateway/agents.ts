import type { AgentAdapter, AgentOption, HeadlessLaunch, ModelAccess } from '../../agents/contract.js';
import { findAgent, launchOf, missingOption } from '../../agents/registry.js';
import { OrchestratorError, toOrchestratorError } from '../../core/errors/error.js';
import type { ModelPlace } from '../../llm/contract.js';
import { findProgram } from '../../platform/find-program.js';

export interface ReadyAgent {
  readonly adapter: AgentAdapter;
  readonly launch: HeadlessLaunch;
  /** Absolute path; '' of a model, which is no program. */
  readonly binary: string;
  /** What the person who started the daemon set for it. */
  readonly options: Readonly<Record<string, string>>;
}

export interface AgentTable {
  readonly agents: readonly AgentAdapter[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly options: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** Throws UNKNOWN_AGENT, AGENT_NOT_LAUNCHABLE, NO_AGENTS, AGENT_KEY_MISSING, AGENT_OPTION_MISSING. */
export async function readyAgent(table: AgentTable, name: string): Promise<ReadyAgent> {
  const { adapter, launch } = headlessOf(table, name);
  if (adapter.model !== undefined && keyOf(adapter.model, table) === null)
    throw new OrchestratorError('AGENT_KEY_MISSING', { agent: name, variable: adapter.model.keyVariable });
  // A model has none.
  const binary = adapter.model === undefined ? await findProgram(adapter.binaries, table.env) : '';
  if (binary === null) throw new OrchestratorError('NO_AGENTS', { wanted: [name] });
  const missing = missingOption(adapter, table.options);
  if (missing !== null) throw optionMissing(name, missing);
  return { adapter, launch, binary, options: table.options[name] ?? {} };
}

function headlessOf(table: AgentTable, name: string): Pick<ReadyAgent, 'adapter' | 'launch'> {
  const adapter = findAgent(name, table.agents);
  const launch = adapter.headless;
  if (launch === null)
    throw new OrchestratorError('AGENT_NOT_LAUNCHABLE', { agent: name, valid: withoutTerminal(table) });
  return { adapter, launch };
}

/**
 * Of providers that stand in for each other one is enough. Throws for a name that is none, whichever it is, and what
 * keeps the first one from being started where none can be.
 */
export async function requireOneReady(table: AgentTable, names: readonly string[]): Promise<void> {
  for (const name of names) headlessOf(table, name);
  let problem: OrchestratorError | null = null;
  for (const name of names) {
    try {
      await readyAgent(table, name);
      return;
    } catch (error) {
      problem ??= toOrchestratorError(error);
    }
  }
  throw problem ?? new OrchestratorError('NO_AGENTS');
}

export function keyOf({ keyVariable }: ModelAccess, { env }: Pick<AgentTable, 'env'>): string | null {
  const key = env[keyVariable]?.trim() ?? '';
  return key === '' ? null : key;
}

/** Where a model is asked, as the options and the environment of the daemon say. null: the agent is a program. */
export function modelPlace({ adapter, options }: ReadyAgent, table: AgentTable): ModelPlace | null {
  const { model: access, name: provider } = adapter;
  if (access === undefined) return null;
  const { format, path, urlVariable } = access;
  const base = (options['url'] ?? table.env[urlVariable] ?? access.url).replace(/\/+$/, '');
  return {
    ...{ provider, format, url: `${base}${path}`, headers: access.headers(keyOf(access, table) ?? '') },
    model: options['model'] ?? '',
    maxTokens: options['max_tokens'] === undefined ? null : Number(options['max_tokens']),
  };
}

export function optionMissing(
  agent: string,
  { name: option, summary, file }: AgentOption,
): OrchestratorError {
  const value = file ? 'FILE' : 'VALUE';
  return new OrchestratorError('AGENT_OPTION_MISSING', { agent, option, summary, value });
}

/** Those that this version can start without a terminal. */
function withoutTerminal({ agents }: Pick<AgentTable, 'agents'>): string[] {
  return agents.filter((adapter) => launchOf(adapter, 'headless') !== null).map(({ name }) => name);
}

export interface Provider {
  readonly name: string;
  /** `cli`: its own program is started; `embedded`: a model that is asked over HTTP. */
  readonly kind: 'cli' | 'embedded';
  readonly binary: string | null;
  readonly available: boolean;
  readonly reason: string | null;
}

export async function providers(table: AgentTable): Promise<Provider[]> {
  return Promise.all(
    withoutTerminal(table).map(async (name) => {
      const adapter = findAgent(name, table.agents);
      const { model } = adapter;
      const binary = model === undefined ? await findProgram(adapter.binaries, table.env) : null;
      const missing = missingOption(adapter, table.options);
      const lacks = missing === null ? null : `needs its ${missing.name}: ${missing.summary}`;
      if (model !== undefined) {
        const reason = keyOf(model, table) === null ? `${model.keyVariable} is not set` : lacks;
        return { name, kind: 'embedded' as const, binary, available: reason === null, reason };
      }
      const reason = binary === null ? 'not found on PATH' : lacks;
      return { name, kind: 'cli' as const, binary, available: reason === null, reason };
    }),
  );
}
