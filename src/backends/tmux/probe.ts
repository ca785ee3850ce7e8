import { mkdtemp } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '../../core/clock.js';
import { OrchestratorError } from '../../core/errors/error.js';
import { listFolder, pathFacts } from '../../platform/disk.js';
import { removeTree, writeFileAtomic } from '../../platform/files.js';
import { runProcess } from '../../platform/process.js';
import { processRef } from '../../platform/process-tree.js';
import type { FoundServer, TmuxProbe } from './contract.js';
import { connectControlClient } from './control-client.js';
import { awaitServerEnd, isListening, socketPathOf } from './server.js';
import { PLACEHOLDER } from './session.js';

type Environment = Readonly<Record<string, string | undefined>>;

export interface TmuxProbeOptions {
  readonly env: Environment;
  /** `agentorchestr`, or what AGENTORCHESTR_TMUX_SOCKET says. */
  readonly socketPrefix: string;
  readonly clock: Clock;
}

const LIMIT_MS = 4_000;
const SESSION_ID = /^[0-9a-f]{8}$/;

export function createTmuxProbe(options: TmuxProbeOptions): TmuxProbe {
  const env = { ...options.env, TMUX: undefined, TMUX_PANE: undefined };
  return {
    version: () => version(env),
    tryControlMode: () => tryControlMode(env, options.clock),
    servers: (known) => servers({ ...options, env }, known),
  };
}

async function version(env: Environment): Promise<string | null> {
  const { notStarted, timedOut, stdout, stderr } = await runProcess('tmux', ['-V'], {
    env,
    timeoutMs: LIMIT_MS,
  });
  if (notStarted) throw new OrchestratorError('TMUX_MISSING', {}, { cause: new Error(stderr) });
  if (timedOut) throw late('tmux -V');
  return /(?:next-|openbsd-)?\d+\.[\w.-]+/.exec(stdout)?.[0] ?? null;
}

/** The socket lies where those of sessions would, in a folder of its own. The server ends with its client, whatever happens to us. */
async function tryControlMode(env: Environment, clock: Clock): Promise<void> {
  const parent = dirname(dirname(await socketPathOf('x', env)));
  const folder = await mkdtemp(join(parent, 'agentorchestr-try-')).catch((error: Error) => {
    throw new OrchestratorError('TMUX_FAILED', { command: 'new-session', problem: error.message });
  });
  const own = { ...env, TMUX_TMPDIR: folder };
  const beganAt = clock.now();
  try {
    const configFile = join(folder, 'tmux.conf');
    await writeFileAtomic(configFile, 'set -s exit-unattached on\n');
    const client = await connectControlClient({
      socketName: 'try',
      configFile,
      env: own,
      initial: ['new-session', '-x', '80', '-y', '24', ...PLACEHOLDER],
      clock,
      answerTimeoutMs: LIMIT_MS,
    });
    const [pid = ''] = await client.command('display-message', '-p', '#{pid}');
    const server = processRef(Number(pid));
    await client.detach();
    if (server !== null)
      await awaitServerEnd(server, await socketPathOf('try', own), { clock, limitMs: LIMIT_MS });
  } catch (error) {
    throw clock.now() - beganAt >= LIMIT_MS ? late('starting tmux in control mode') : error;
  } finally {
    await removeTree(folder);
  }
}

function late(what: string): OrchestratorError {
  return new OrchestratorError('TIMED_OUT', { what, limit_ms: LIMIT_MS, hint: 'try it by hand' });
}

async function servers(options: TmuxProbeOptions, known: readonly string[]): Promise<FoundServer[]> {
  const folder = dirname(await socketPathOf('x', options.env));
  const prefix = `${options.socketPrefix}-`;
  const here = (await listFolder(folder)).filter(
    ({ path }) => basename(path).startsWith(prefix) && SESSION_ID.test(basename(path).slice(prefix.length)),
  );
  const elsewhere = await Promise.all(known.map((path) => pathFacts(path)));
  const sockets = [...here, ...elsewhere.filter((facts) => facts !== null)]
    .filter(({ kind }) => kind === 'socket')
    .map(({ path }) => path);
  return Promise.all([...new Set(sockets)].sort().map((socket) => describe(socket, options.env)));
}

async function describe(socket: string, env: Environment): Promise<FoundServer> {
  const listening = await isListening(socket);
  const clients = listening === 'yes' ? await controlModesOfClients(socket, env) : null;
  return {
    socket,
    sessionId: basename(socket).slice(-8),
    listening,
    supervised: clients?.includes('1') ?? null,
    watched: clients === null ? null : clients.length > 0,
  };
}

async function controlModesOfClients(socket: string, env: Environment): Promise<readonly string[] | null> {
  const args = ['-u', '-S', socket, 'list-clients', '-F', '#{client_control_mode}'];
  const { exitCode, stdout } = await runProcess('tmux', args, { env, timeoutMs: LIMIT_MS });
  return exitCode === 0 ? stdout.split('\n').filter(Boolean) : null;
}
