import { resolve } from 'node:path';
import type { AgentAdapter } from '../agents/contract.js';
import { detectInstalled } from '../discovery/installed.js';
import type { AgentdOptions } from '../doors/cli/agentd-options.js';
import { systemClock } from '../platform/clock.js';
import { isSameProcessAlive } from '../platform/identity.js';
import { resolvePaths } from '../platform/paths.js';
import type { PortState } from '../services/gateway/preflight/deps.js';
import { preflight, type Preflight } from '../services/gateway/preflight/preflight.js';
import type { DatabaseInspection } from '../store/contract.js';
import { inspectDatabase } from '../store/inspect.js';
import { addressOf, isLoopback, LEASE } from './daemon-access.js';
import { checkedAgentOptions } from './daemon-start-check.js';
import { findDaemon } from './daemon-files.js';
import { healthAt, nameOf, tryToListen } from './daemon-port.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Composes the checks before a start with these flags. */
export async function runPreflight(
  options: AgentdOptions,
  agents: readonly AgentAdapter[],
  env: Environment,
): Promise<Preflight> {
  const paths = resolvePaths(env);
  const database = resolve(options.database);
  let inspection: Promise<DatabaseInspection> | undefined;
  let port: Promise<PortState> | undefined;
  const { host, tokens, withoutAuth, provider, folder, agentOptions } = options;
  try {
    return await preflight({
      ...{ clock: systemClock, env, database, files: `${database}.files`, agents },
      wanted: {
        ...{ host, port: options.port, provider, folder, agentOptions, isLoopback: isLoopback(host) },
        // On loopback it makes one itself.
        hasToken: tokens.length > 0 || (isLoopback(host) && !withoutAuth),
      },
      detect: (names) => detectInstalled({ adapters: agents, env, clock: systemClock, names }),
      inspect: () =>
        (inspection ??= inspectDatabase({ path: database, temp: paths.temp, clock: systemClock })),
      ...{ lease: LEASE, isAlive: isSameProcessAlive },
      checkOptions: () => checkedAgentOptions(options, agents, env),
      port: () => (port ??= portState(options, paths)),
    });
  } finally {
    await inspection?.then(
      (found) => found.close(),
      () => undefined,
    );
  }
}

async function portState({ host, port }: AgentdOptions, paths: { state: string }): Promise<PortState> {
  const problem = await tryToListen({ host, port });
  if (problem === null) return { is: 'free' };
  if (problem.code !== 'EADDRINUSE') return { is: 'refused', problem: problem.message };
  const url = addressOf(host, port);
  const [known, health] = await Promise.all([findDaemon(paths, url), healthAt(url)]);
  if (known?.isAlive !== true) return { is: 'taken', by: nameOf(health) };
  const { pid, database, instance_id: instance } = known.file;
  if (health === null) return { is: 'silent', pid };
  return health.instance_id === instance
    ? { is: 'ours', pid, database }
    : { is: 'taken', by: nameOf(health) };
}
