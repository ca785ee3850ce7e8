import { PROVIDERS } from '../agents/providers.js';
import type { AgentAdapter } from '../agents/contract.js';
import { detectInstalled } from '../discovery/installed.js';
import type { DetectedAgent, Surroundings } from '../doors/cli/host.js';
import { systemClock } from '../platform/clock.js';
import { runProcess } from '../platform/process.js';
import { whereLaunchable } from './known-agents.js';

type Environment = Readonly<Record<string, string | undefined>>;

const PROBE_LIMIT_MS = 3_000;

export async function detectAgents(
  env: Environment,
  adapters: readonly AgentAdapter[],
  names: readonly string[] | null,
): Promise<DetectedAgent[]> {
  const found = await detectInstalled({ adapters, env, clock: systemClock, names });
  return found.map(({ adapter, binary, version }) => ({
    name: adapter.name,
    displayName: adapter.displayName,
    kind: adapter.kind,
    binary,
    version,
    orchestrate: adapter.scores.orchestrate,
    implement: adapter.scores.implement,
    parallel: adapter.capabilities.parallel,
    mcp: adapter.capabilities.mcp,
    ...whereLaunchable(adapter),
  }));
}

/** Parts that may be there or not; an absent one never stops a session. */
const CAPABILITIES = [
  { name: 'MCP', present: true, note: 'built in' },
  { name: 'mDNS', present: false, note: 'finding agents in the network; not in this version' },
  { name: 'web search', present: false, note: 'not in this version' },
  { name: 'vectors', present: false, note: 'retrieval by meaning; not in this version' },
] as const;

export async function detectSurroundings(env: Environment): Promise<Surroundings> {
  const [tmux, git] = await Promise.all([
    versionOf('tmux', ['-V'], env),
    versionOf('git', ['--version'], env),
  ]);
  return {
    providers: PROVIDERS.map(({ name, keyVariable }) => ({
      name,
      variable: keyVariable,
      keyPresent: (env[keyVariable] ?? '').trim() !== '',
    })),
    capabilities: CAPABILITIES,
    tools: [
      { name: 'tmux', version: tmux },
      { name: 'git', version: git },
      { name: 'node', version: process.versions.node },
    ],
  };
}

async function versionOf(file: string, args: readonly string[], env: Environment): Promise<string | null> {
  const { exitCode, stdout } = await runProcess(file, args, { env, timeoutMs: PROBE_LIMIT_MS });
  return exitCode === 0 ? (/\d[\w.]*/.exec(stdout)?.[0] ?? 'unknown') : null;
}
