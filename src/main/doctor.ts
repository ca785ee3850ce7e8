import type { Diagnosis } from '../services/doctor/diagnose.js';
import type { Mendable, Mended } from '../services/doctor/mend.js';
import { within } from '../core/clock.js';
import { Interrupted } from '../doors/cli/interrupted.js';
import { systemClock } from '../platform/clock.js';
import { removeFile } from '../platform/files.js';
import { resolvePaths, type Paths } from '../platform/paths.js';
import type { DatabaseInspection } from '../store/contract.js';
import { supportedNode } from './manifest.js';

type Environment = Readonly<Record<string, string | undefined>>;

const CLOSE_LIMIT_MS = 2_000;

/** Composes `--doctor`. A room that cannot be loaded fails only the checks that ask it. */
export async function runDoctor(env: Environment, interrupted: AbortSignal): Promise<Diagnosis> {
  const paths = resolvePaths(env);
  const [{ diagnose }, { createGitProbe }, { createTmuxProbe }] = await Promise.all([
    import('../services/doctor/diagnose.js'),
    import('../git/probe.js'),
    import('../backends/tmux/probe.js'),
  ]);
  // Loading holds up everything else, the answers of programs that have a limit included: it is done before they are asked.
  await Promise.allSettled([import('./doctor-mcp.js'), import('../store/inspect.js'), loadDetection()]);
  let inspection: Promise<DatabaseInspection> | undefined;
  const database = () => (inspection ??= inspect(paths.database, paths.temp));
  try {
    const diagnosis = diagnose({
      env,
      clock: systemClock,
      paths,
      node: { version: process.versions.node, path: process.execPath, engines: supportedNode() },
      git: createGitProbe({ env }),
      tmux: createTmuxProbe(tmuxOptions(env)),
      detectAgents,
      database,
      deadDaemons: () => deadDaemons(paths),
      tryMcp: async (signal) => (await import('./doctor-mcp.js')).tryMcp(signal),
    });
    return await unlessInterrupted(diagnosis, interrupted);
  } finally {
    const closed = inspection?.then((found) => found.close());
    if (closed !== undefined) await within(systemClock, CLOSE_LIMIT_MS, closed, undefined);
  }

  async function detectAgents() {
    const [{ detectInstalled }, { AGENTS }] = await loadDetection();
    return detectInstalled({ adapters: AGENTS, env, clock: systemClock });
  }
}

export async function runMending(
  env: Environment,
  mendable: readonly Mendable[],
): Promise<readonly Mended[]> {
  const [{ mendAll }, { isServerAlive, killServer }, { createTmuxProbe }] = await Promise.all([
    import('../services/doctor/mend.js'),
    import('../backends/tmux/attach.js'),
    import('../backends/tmux/probe.js'),
  ]);
  const tmux = createTmuxProbe(tmuxOptions(env));
  return mendAll(mendable, {
    clock: systemClock,
    // The person may have taken time to agree: each is looked at again.
    async removeSocket(socket) {
      if ((await isServerAlive({ socketName: socket, env })) !== 'no') return false;
      await removeFile(socket);
      return true;
    },
    async removeDaemonFile(path) {
      const dead = await deadDaemons(resolvePaths(env));
      if (!dead.some((daemon) => daemon.path === path)) return false;
      await removeFile(path);
      return true;
    },
    async endServer(socket) {
      const server = (await tmux.servers([socket])).find((found) => found.socket === socket);
      if (server === undefined) return true;
      if (server.watched !== false) return false;
      return (await killServer({ socketName: socket, env })) === 'no';
    },
  });
}

/** Checks that are nearly done still take away what they made for themselves. */
async function unlessInterrupted<T>(work: Promise<T>, interrupted: AbortSignal): Promise<T> {
  const stop = new Promise<null>((resolve) => {
    if (interrupted.aborted) resolve(null);
    interrupted.addEventListener('abort', () => resolve(null), { once: true });
  });
  const first = await Promise.race([work.then((done) => ({ done })), stop]);
  if (first !== null) return first.done;
  await within(systemClock, CLOSE_LIMIT_MS, work, null);
  throw new Interrupted();
}

async function deadDaemons(paths: Paths) {
  const { readDaemons } = await import('./daemon-files.js');
  const dead = (await readDaemons(paths)).filter(({ isAlive }) => !isAlive);
  return dead.map(({ path, file }) => ({ path, url: file.url }));
}

function tmuxOptions(env: Environment) {
  const socketPrefix = env['AGENTORCHESTR_TMUX_SOCKET'] ?? 'agentorchestr';
  return { env, socketPrefix, clock: systemClock };
}

function loadDetection() {
  return Promise.all([import('../discovery/installed.js'), import('../agents/registry.js')]);
}

async function inspect(path: string, temp: string): Promise<DatabaseInspection> {
  const { inspectDatabase } = await import('../store/inspect.js');
  return inspectDatabase({ path, temp, clock: systemClock });
}
