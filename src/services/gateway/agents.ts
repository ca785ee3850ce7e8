import type { AgentAdapter, HeadlessLaunch } from '../../agents/contract.js';
import { findAgent, launchOf } from '../../agents/registry.js';
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

/** Throws UNKNOWN_AGENT, AGENT_NOT_LAUNCHABLE, NO_AGENTS. */
export async function readyAgent(table: AgentTable, name: string): Promise<ReadyAgent> {
  const adapter = findAgent(name, table.agents);
  const launch = adapter.headless;
  if (launch === null)
    throw new OrchestratorError('AGENT_NOT_LAUNCHABLE', { agent: name, valid: withoutTerminal(table) });
  const binary = await findProgram(adapter.binaries, table.env);
  if (binary === null) throw new OrchestratorError('NO_AGENTS', { wanted: [name] });
  return { adapter, launch, binary, options: table.options[name] ?? {} };
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
      const binary = await findProgram(findAgent(name, table.agents).binaries, table.env);
      const reason = binary === null ? 'not found on PATH' : null;
      return { name, kind: 'cli' as const, binary, available: binary !== null, reason };
    }),
  );
}
