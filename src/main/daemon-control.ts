import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OrchestratorError } from '../core/errors/error.js';
import type {
  AgentctlHost,
  BackupOptions,
  LineReader,
  StartOptions,
  StopAnswer,
  Target,
} from '../doors/agentctl/host.js';
import { readAgentdOptions, type AgentdOptions } from '../doors/cli/agentd-options.js';
import { agentFlags } from './agentd-flags.js';
import { readConversationAgents } from './own-agents.js';
import { systemClock } from '../platform/clock.js';
import { startDetached } from '../platform/detached.js';
import { isThere } from '../platform/disk.js';
import { ensurePrivateDirectory, removeFile } from '../platform/files.js';
import { followLog, lastLines } from '../platform/follow-log.js';
import type { Paths } from '../platform/paths.js';
import { goneWithin, signalProcess } from '../platform/process-tree.js';
import { addressOf } from './daemon-access.js';
import { healthAt } from './daemon-port.js';
import { daemonsFolder, findDaemon, type KnownDaemon } from './daemon-files.js';
import { lastWordsPath, logPath } from './daemon-log.js';
import { readyOf } from './start-message.js';

/** Longer than what runs usually gets to end. */
const STOPPING_LIMIT_MS = 120_000;

type Environment = Readonly<Record<string, string | undefined>>;

/** `daemon start`, `stop` and `logs`: by the file that a daemon announces itself with. */
export function daemonControl(env: Environment, paths: Paths): AgentctlHost['daemon'] {
  return {
    start: (target, options) => start(env, paths, target, options),
    async preflight(target, given) {
      const { runPreflight } = await import('./preflight.js');
      return runPreflight(agentdOptions(env, paths, target, given), readConversationAgents(paths), env);
    },
    stop: ({ url }, options) => stop(paths, url, options),
    backup: (target, given) => backup(env, paths, target, given),
    logs: ({ url }, lines) => logs(paths, url, lines),
    followLogs: ({ url }, lines, reader) => followLogs(paths, url, lines, reader),
  };
}

/** Throws USAGE. */
function agentdOptions(env: Environment, paths: Paths, target: Target, given: StartOptions): AgentdOptions {
  const flags = agentFlags(readConversationAgents(paths));
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
  if (known?.isAlive === true && !(await isOnItsWayOut(known))) {
    const wanted = databaseNamed(given.args, env);
    if (wanted !== null && resolve(wanted) !== known.file.database) throw taken(options, known);
    const { pid_started_at: _at, boot_id: _boot, ...shown } = known.file;
    return { started: false, already_running: true, ...shown };
  }
  const folder = daemonsFolder(paths);
  await ensurePrivateDirectory(folder);
  const base = join(folder, `${options.host}-${options.port === 0 ? `new-${process.pid}` : options.port}`);
  const log = lastWordsPath(base);
  const program = fileURLToPath(new URL('./agentd-detached.js', import.meta.url));
  const begun = await startDetached(process.execPath, [program, base, ...allArguments(target, given)], {
    ...{ env: { ...env, ...tokenFor(env, target) }, cwd: process.cwd(), input: '', logPath: log },
  });
  if (begun.line === null) throw new OrchestratorError('DAEMON_NOT_STARTED', { problem: begun.exit, log });
  const notStarted = (problem: string) => new OrchestratorError('DAEMON_NOT_STARTED', { problem, log });
  return { started: true, ...readyOf<Record<string, unknown>>(begun.line, notStarted) };
}

/** One that is being stopped is waited for: who starts it again means the next one. */
async function isOnItsWayOut({ file }: KnownDaemon): Promise<boolean> {
  if ((await healthAt(file.url))?.status !== 'draining') return false;
  return goneWithin({ pid: file.pid, pidStartedAt: file.pid_started_at }, STOPPING_LIMIT_MS, systemClock);
}

/** As it was given; null: the usual one. */
function databaseNamed(args: readonly string[], env: Environment): string | null {
  const at = args.findIndex((arg) => arg === '--db' || arg.startsWith('--db='));
  if (at === -1) return env['AGENTD_DB'] ?? null;
  return args[at]?.startsWith('--db=') === true ? args[at].slice(5) : (args[at + 1] ?? null);
}

function taken({ host, port }: AgentdOptions, { file }: KnownDaemon): OrchestratorError {
  const by = `an agentd with another database (process ${file.pid}, ${file.database})`;
  return new OrchestratorError('PORT_IN_USE', { host, port, by });
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

/** Never a process that only has the pid of one: the file says when it was started, and in which boot. */
async function stop(
  paths: Paths,
  url: string,
  { limitMs, now }: { limitMs: number; now: boolean },
): Promise<StopAnswer> {
  const known = await findDaemon(paths, url);
  if (known === null) {
    if ((await healthAt(url)) !== null) throw new OrchestratorError('DAEMON_NOT_OURS', { url });
    return { stopped: false, was_running: false, pid: null };
  }
  const { pid, pid_started_at: pidStartedAt } = known.file;
  if (!known.isAlive || !signalProcess({ pid, pidStartedAt }, 'SIGTERM')) {
    await removeFile(known.path);
    return { stopped: false, was_running: false, pid };
  }
  // Another signal than the first: two of the same may arrive as one.
  if (now) signalProcess({ pid, pidStartedAt }, 'SIGINT');
  const stopped = await goneWithin({ pid, pidStartedAt }, limitMs, systemClock);
  return { stopped, was_running: true, pid };
}

/** Done here and not by the daemon: it works without one, and holds none up. */
async function backup(env: Environment, paths: Paths, target: Target, { file, database }: BackupOptions) {
  const { backupDatabase } = await import('../store/backup.js');
  const known = database === null ? await findDaemon(paths, target.url) : null;
  const usual = () => agentdOptions(env, paths, target, { args: [], isUrlGiven: false }).database;
  const path = resolve(database ?? known?.file.database ?? usual());
  return { database: path, ...(await backupDatabase({ path, target: resolve(file) })) };
}

async function logs(paths: Paths, url: string, most: number): Promise<readonly string[]> {
  const base = await logOf(paths, url);
  const words = await lastLines(lastWordsPath(base), most);
  return [...(await lastLines(logPath(base), most - words.length)), ...words];
}

async function followLogs(paths: Paths, url: string, most: number, reader: LineReader): Promise<void> {
  await followLog(logPath(await logOf(paths, url)), most, { ...reader, clock: systemClock });
}

/** Throws NO_DAEMON_LOG. */
async function logOf(paths: Paths, url: string): Promise<string> {
  const known = await findDaemon(paths, url);
  const { hostname, port } = new URL(url);
  const name = known === null ? `${hostname}-${port}` : basename(known.path, '.json');
  const base = join(daemonsFolder(paths), name.replace(/^localhost-/, '127.0.0.1-'));
  if (await isThere(logPath(base))) return base;
  throw new OrchestratorError('NO_DAEMON_LOG', { url });
}
