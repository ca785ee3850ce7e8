import { rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CATALOG, type ErrorCode, type ErrorParams } from '../core/errors/catalog.js';
import { OrchestratorError } from '../core/errors/error.js';
import type { AgentctlHost, StartOptions, StopAnswer, Target } from '../doors/agentctl/host.js';
import { readAgentdOptions, type AgentdOptions } from '../doors/cli/agentd-options.js';
import { agentFlags } from './agentd-flags.js';
import { readAgents } from './own-agents.js';
import { systemClock } from '../platform/clock.js';
import { startDetached } from '../platform/detached.js';
import { isThere } from '../platform/disk.js';
import { ensurePrivateDirectory, removeFile } from '../platform/files.js';
import type { Paths } from '../platform/paths.js';
import { goneWithin, signalProcess } from '../platform/process-tree.js';
import { linesFromEnd } from '../platform/tail.js';
import { addressOf } from './daemon-access.js';
import { daemonsFolder, findDaemon } from './daemon-files.js';

type Environment = Readonly<Record<string, string | undefined>>;

const LOG_READ = { bytes: 4 * 1024 * 1024, lineBytes: 64 * 1024 } as const;

/** `daemon start`, `stop` and `logs`: by the file that a daemon announces itself with. */
export function daemonControl(env: Environment, paths: Paths): AgentctlHost['daemon'] {
  return {
    start: (target, options) => start(env, paths, target, options),
    async preflight(target, given) {
      const { runPreflight } = await import('./preflight.js');
      return runPreflight(agentdOptions(env, paths, target, given), readAgents(paths), env);
    },
    stop: ({ url }, limitMs) => stop(paths, url, limitMs),
    logs: ({ url }, lines) => logs(paths, url, lines),
  };
}

/** Throws USAGE. */
function agentdOptions(env: Environment, paths: Paths, target: Target, given: StartOptions): AgentdOptions {
  const flags = agentFlags(readAgents(paths));
  const more = tokenFor(env, target);
  const options = readAgentdOptions(allArguments(target, given), { ...env, ...more }, process.cwd(), flags);
  if (typeof options !== 'string') return options;
  throw new OrchestratorError('USAGE', { problem: `--${options} is of agentd`, hint: `agentd --${options}` });
}

function allArguments({ url }: Target, { args, isUrlGiven }: StartOptions): string[] {
  return [...(isUrlGiven ? addressFlags(url, args) : []), ...args];
}

async function start(env: Environment, paths: Paths, target: Target, given: StartOptions) {
  const options = agentdOptions(env, paths, target, given);
  if (options.check)
    throw new OrchestratorError('USAGE', {
      problem: '--check starts nothing',
      hint: 'agentctl daemon preflight',
    });
  const known = await findDaemon(paths, addressOf(options.host, options.port));
  if (known?.isAlive === true) {
    const { pid_started_at: _at, boot_id: _boot, ...shown } = known.file;
    return { started: false, already_running: true, ...shown };
  }
  const folder = daemonsFolder(paths);
  await ensurePrivateDirectory(folder);
  const log = join(folder, `${options.host}-${options.port === 0 ? `new-${process.pid}` : options.port}.log`);
  const begun = await startDetached(
    process.execPath,
    [fileURLToPath(new URL('./agentd-detached.js', import.meta.url)), ...allArguments(target, given)],
    { env: { ...env, ...tokenFor(env, target) }, cwd: process.cwd(), input: '', logPath: log },
  );
  if (begun.line === null) throw new OrchestratorError('DAEMON_NOT_STARTED', { problem: begun.exit, log });
  const message = JSON.parse(begun.line) as {
    ready?: { readonly port: number };
    error?: { code: string; message: string; params: ErrorParams };
  };
  if (message.ready === undefined) throw notStarted(message.error, log);
  const place = join(folder, `${options.host}-${message.ready.port}.log`);
  if (place !== log) await rename(log, place);
  return { started: true, ...message.ready, log: place };
}

/** `--url` says where it is to listen, unless agentd's own flags do. */
function addressFlags(url: string, args: readonly string[]): string[] {
  const { hostname, port, protocol } = new URL(url);
  const isGiven = (flag: string) => args.some((arg) => arg === flag || arg.startsWith(`${flag}=`));
  return [
    ...(isGiven('--host') ? [] : ['--host', hostname.replace(/^\[|\]$/g, '')]),
    ...(isGiven('--port') ? [] : ['--port', port === '' ? (protocol === 'https:' ? '443' : '80') : port]),
  ];
}

/** By the environment: arguments are seen by everybody on this machine. */
function tokenFor(env: Environment, { token }: Target): Environment {
  if (token === null) return {};
  const others = [env['AGENTD_AUTH_TOKENS'], env['AGENTD_AUTH_TOKEN']].filter((one) => one !== undefined);
  return { AGENTD_AUTH_TOKEN: token, AGENTD_AUTH_TOKENS: others.join(',') };
}

function notStarted(error: { code: string; message: string; params: ErrorParams } | undefined, log: string) {
  const { code = 'INTERNAL', message = 'unknown', params = {} } = error ?? {};
  return code in CATALOG && code !== 'INTERNAL'
    ? new OrchestratorError(code as ErrorCode, params)
    : new OrchestratorError('DAEMON_NOT_STARTED', { problem: message, log });
}

/** Never a process that only has the pid of one: the file says when it was started, and in which boot. */
async function stop(paths: Paths, url: string, limitMs: number): Promise<StopAnswer> {
  const known = await findDaemon(paths, url);
  if (known === null) return { stopped: false, was_running: false, pid: null };
  const { pid, pid_started_at: pidStartedAt } = known.file;
  if (!known.isAlive || !signalProcess({ pid, pidStartedAt }, 'SIGTERM')) {
    await removeFile(known.path);
    return { stopped: false, was_running: false, pid };
  }
  const stopped = await goneWithin({ pid, pidStartedAt }, limitMs, systemClock);
  return { stopped, was_running: true, pid };
}

async function logs(paths: Paths, url: string, most: number): Promise<readonly string[]> {
  const known = await findDaemon(paths, url);
  const { hostname, port } = new URL(url);
  const name = known === null ? `${hostname}-${port}` : basename(known.path, '.json');
  const path = join(daemonsFolder(paths), `${name.replace(/^localhost-/, '127.0.0.1-')}.log`);
  if (!(await isThere(path))) throw new OrchestratorError('NO_DAEMON_LOG', { url });
  const lines: string[] = [];
  if (most > 0) for await (const line of linesFromEnd(path, LOG_READ)) if (lines.unshift(line) >= most) break;
  return lines;
}
