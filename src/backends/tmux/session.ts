import { join } from 'node:path';
import { type Clock, within } from '../../core/clock.js';
import { LEAD_ID } from '../../core/ids.js';
import { OrchestratorError } from '../../core/errors/error.js';
import { ensurePrivateDirectory, removeFile, removeTree, writeFileAtomic } from '../../platform/files.js';
import { processStartTime } from '../../platform/identity.js';
import type { Logger } from '../../platform/logger.js';
import type { ProcessRef } from '../../platform/process-tree.js';
import { runProcess } from '../../platform/process.js';
import { requiredSettings, tmuxConfig } from './config.js';
import { TmuxConnection } from './connection.js';
import { connectControlClient, type ControlClientOptions } from './control-client.js';
import type { WindowSize } from './layout.js';
import { listPanes, markPane } from './panes.js';
import { windowName } from './placement.js';
import { awaitServerEnd, isListening, restoreSocket, serverExistence, socketPathOf } from './server.js';
import type { ControlClient } from './types.js';

export interface TmuxSessionOptions {
  readonly sessionId: string;
  readonly socketPrefix: string;
  /** Private folder for configuration and for the panes' own TMUX_TMPDIR. */
  readonly directory: string;
  /** What agents inherit, already cleaned. */
  readonly env: Readonly<Record<string, string>>;
  readonly size: WindowSize;
  readonly userConfig: string | null;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onReconnected: () => void;
  readonly onGap: (paneId: string) => void;
}

/** Keeps the first pane until the lead comes, and after it has gone for good. */
export const PLACEHOLDER = ['/bin/sh', '-c', 'exec cat'] as const;

/** The tmux server of one session with our connection to it. */
export interface TmuxSession {
  readonly connection: TmuxConnection;
  readonly socketPath: string;
  /** `$n` of the one tmux session. */
  readonly target: string;
  /** Empty folder in which a tmux started by an agent looks for servers. */
  readonly tmuxDirectory: string;
  /** Ends the server if it is not over yet, and removes what we made for it. */
  destroy(): Promise<void>;
}

/** Starts the session's server, or connects to the one that runs. Throws TMUX_MISSING, TMUX_FAILED. */
export async function openTmuxSession(options: TmuxSessionOptions): Promise<TmuxSession> {
  const { clock, logger, size } = options;
  const name = `agentorchestr-${options.sessionId}`;
  const configFile = join(options.directory, 'tmux.conf');
  const tmuxDirectory = join(options.directory, 'no-tmux');
  await ensurePrivateDirectory(options.directory);
  await ensurePrivateDirectory(tmuxDirectory);
  await writeFileAtomic(configFile, tmuxConfig({ size }));
  const socketName = socketNameOf(options);
  const socketPath = await socketPathOf(socketName, options.env);
  const onWarning = (problem: string) => logger.warn({ problem }, 'tmux');
  const client = { socketName, configFile, env: options.env, clock, onWarning };
  const connect = (initial: readonly string[]) => connectControlClient({ ...client, initial });

  const first = await startOrAttach(connect, { name, size, socketPath });
  const leave = async (error: unknown): Promise<never> => {
    await first.detach();
    throw error;
  };
  const facts = await describe(first, name).catch(leave);
  const connection = new TmuxConnection(first, {
    clock,
    logger,
    onReconnected: options.onReconnected,
    onGap: options.onGap,
    existence: () => serverExistence(socketPath, facts.server),
    attach: async () => {
      if ((await isListening(socketPath)) === 'no') await restoreSocket(socketPath, facts.server);
      // A server that has just ended would be followed by an empty one that nobody knows.
      return attachTo({ ...client, initial: ['attach-session', '-t', `=${name}`] });
    },
  });
  const prepared = facts.ready
    ? refreshEnvironment(connection, options.env)
    : prepare(connection, facts, options);
  await prepared.catch(leave);
  return {
    connection,
    socketPath,
    target: facts.target,
    tmuxDirectory,
    async destroy() {
      connection.leave();
      await within(clock, 3_000, connection.command('kill-server'), []);
      await connection.detach();
      await awaitServerEnd(facts.server, socketPath, { clock, limitMs: 5_000 });
      await removeFile(configFile);
      await removeTree(tmuxDirectory);
    },
  };
}

type Connect = (initial: readonly string[]) => Promise<ControlClient>;

async function startOrAttach(
  connect: Connect,
  session: { name: string; size: WindowSize; socketPath: string },
): Promise<ControlClient> {
  const size = ['-x', String(session.size.columns), '-y', String(session.size.rows)];
  const start = ['new-session', '-A', '-s', session.name, '-n', windowName(1), ...size, ...PLACEHOLDER];
  try {
    return await connect(start);
  } catch (error) {
    // A server that was just ending takes the connection with it; once it is gone a new one can start.
    const mayStart = error instanceof OrchestratorError && error.code === 'TMUX_FAILED';
    if (!mayStart || (await isListening(session.socketPath)) !== 'no') throw error;
    return connect(start);
  }
}

/** tmux before 3.2 cannot be told to start no server. */
async function attachTo(client: ControlClientOptions): Promise<ControlClient> {
  try {
    return await connectControlClient({ ...client, startsNone: true });
  } catch (error) {
    if (!(error instanceof OrchestratorError) || !String(error.params['problem']).startsWith('usage: '))
      throw error;
    return connectControlClient(client);
  }
}

interface SessionFacts {
  readonly server: ProcessRef;
  readonly target: string;
  readonly windowId: string;
  readonly ready: boolean;
}

async function describe(client: ControlClient, name: string): Promise<SessionFacts> {
  const format = '#{pid} #{session_id} #{window_id} #{@ao_ready}';
  const [line = ''] = await client.command('display-message', '-p', '-t', `=${name}:`, format);
  const [pid = '', target = '', windowId = '', ready = ''] = line.split(' ');
  const pidStartedAt = processStartTime(Number(pid));
  if (pidStartedAt === null)
    throw new OrchestratorError('TMUX_FAILED', {
      command: 'display-message',
      problem: `no such server process: ${line}`,
    });
  return { server: { pid: Number(pid), pidStartedAt }, target, windowId, ready: ready === '1' };
}

/** Every window is given its size by name of the window: it then keeps it, whatever terminal attaches. */
async function prepare(
  client: ControlClient,
  facts: SessionFacts,
  options: TmuxSessionOptions,
): Promise<void> {
  if (options.userConfig !== null) await sourceUserConfig(options.userConfig, options);
  const { columns, rows } = options.size;
  await client.command('resize-window', '-t', facts.windowId, '-x', String(columns), '-y', String(rows));
  await client.command('set-option', '-w', '-t', facts.windowId, '@ao_number', '1');
  const [placeholder] = await listPanes(client, facts.target);
  if (placeholder !== undefined)
    await markPane(client, placeholder.paneId, { workerId: LEAD_ID, attemptId: '' });
  await client.command('set-option', '-t', facts.target, '@ao_ready', '1');
}

/**
 * Read by command, not by `-f`: mistakes in it are then ours to report, instead of a screen over the lead's pane. By a
 * client of its own: over a control connection every line of the file would give an answer.
 */
async function sourceUserConfig(path: string, options: TmuxSessionOptions): Promise<void> {
  const required = join(options.directory, 'required.conf');
  await writeFileAtomic(required, `${requiredSettings().join('\n')}\n`);
  for (const file of [path, required]) {
    const tmux = ['-u', '-L', socketNameOf(options), 'source-file', file];
    const result = await runProcess('tmux', tmux, { env: options.env, timeoutMs: 10_000 });
    if (result.exitCode !== 0)
      options.logger.warn({ file, problem: result.stderr }, 'the tmux configuration has mistakes');
  }
  await removeFile(required);
}

function socketNameOf(options: TmuxSessionOptions): string {
  return `${options.socketPrefix}-${options.sessionId}`;
}

/**
 * A server keeps the environment of whoever started it; agents started from now on get ours (new keys, another PATH).
 * Over the connection, so no value is ever an argument of a process.
 */
async function refreshEnvironment(
  client: ControlClient,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  await Promise.all(
    Object.entries(env).map(([name, value]) => client.command('set-environment', '-g', name, value)),
  );
}
