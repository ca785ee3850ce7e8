import type { AgentAdapter, AgentOption, HeadlessLaunch } from '../../agents/contract.js';
import { findAgent, launchOf, missingOption } from '../../agents/registry.js';
import { OrchestratorError } from '../../core/errors/error.js';
import { findProgram } from '../../platform/find-program.js';

export interface ReadyAgent {
  readonly adapter: AgentAdapter;
  readonly launch: HeadlessLaunch;
  /** Absolute path. */
  readonly binary: string;
  /** What the person who started the daemon set for it. */
  readonly options: Readonly<Record<string, string>>;
}

export interface AgentTable {
  readonly agents: readonly AgentAdapter[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly options: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** Throws UNKNOWN_AGENT, AGENT_NOT_LAUNCHABLE, NO_AGENTS, AGENT_OPTION_MISSING. */
export async function readyAgent(table: AgentTable, name: string): Promise<ReadyAgent> {
  const adapter = findAgent(name, table.agents);
  const launch = adapter.headless;
  if (launch === null)
    throw new OrchestratorError('AGENT_NOT_LAUNCHABLE', { agent: name, valid: withoutTerminal(table) });
  const binary = await findProgram(adapter.binaries, table.env);
  if (binary === null) throw new OrchestratorError('NO_AGENTS', { wanted: [name] });
  const missing = missingOption(adapter, table.options);
  if (missing !== null) throw optionMissing(name, missing);
  return { adapter, launch, binary, options: table.options[name] ?? {} };
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
  /** `cli`: its own program is started. */
  readonly kind: 'cli';
  readonly binary: string | null;
  readonly available: boolean;
  readonly reason: string | null;
}

export async function providers(table: AgentTable): Promise<Provider[]> {
  return Promise.all(
    withoutTerminal(table).map(async (name) => {
      const adapter = findAgent(name, table.agents);
      const binary = await findProgram(adapter.binaries, table.env);
      const missing = missingOption(adapter, table.options);
      const lacks = missing === null ? null : `needs its ${missing.name}: ${missing.summary}`;
      const reason = binary === null ? 'not found on PATH' : lacks;
      return { name, kind: 'cli' as const, binary, available: reason === null, reason };
    }),
  );
}
