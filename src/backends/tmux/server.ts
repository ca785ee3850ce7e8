import { connect } from 'node:net';
import { mkdir, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../../core/clock.js';
import { OrchestratorError } from '../../core/errors/error.js';
import { removeFile } from '../../platform/files.js';
import { currentUserId } from '../../platform/paths.js';
import { goneWithin, isAlive, signalProcess, type ProcessRef } from '../../platform/process-tree.js';
import type { Existence } from './types.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** A unix socket's path may not be longer than this on Linux; macOS has a few bytes less, which tmux then reports itself. */
const LONGEST_SOCKET_PATH = 107;

/** Where `tmux -L name` puts its socket. Throws TMUX_FAILED when the path would be too long to exist. */
export async function socketPathOf(socketName: string, env: Environment): Promise<string> {
  const configured = env['TMUX_TMPDIR'];
  const parent = configured === undefined || configured === '' ? '/tmp' : configured;
  const resolved = await realpath(parent).catch(() => parent);
  const path = join(resolved, `tmux-${currentUserId()}`, socketName);
  if (Buffer.byteLength(path) > LONGEST_SOCKET_PATH) {
    throw new OrchestratorError('TMUX_FAILED', {
      command: 'new-session',
      problem: `its socket path is longer than ${LONGEST_SOCKET_PATH} bytes: ${path}`,
    });
  }
  return path;
}

/**
 * Whether a server listens on the socket. A stopped or busy one does (the kernel accepts for it); only a refused
 * connection or a missing file is a `no`.
 */
export function isListening(socketPath: string): Promise<Existence> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    const answer = (existence: Existence) => {
      socket.destroy();
      resolve(existence);
    };
    socket.once('connect', () => answer('yes'));
    socket.once('error', (error: NodeJS.ErrnoException) =>
      answer(error.code === 'ECONNREFUSED' || error.code === 'ENOENT' ? 'no' : 'unknown'),
    );
  });
}

/** The same, for a server whose process is known: a live process whose socket file was swept away is no `no`. */
export async function serverExistence(socketPath: string, server: ProcessRef | null): Promise<Existence> {
  if (server !== null && !isAlive(server)) return 'no';
  const listening = await isListening(socketPath);
  if (listening !== 'no' || server === null) return listening;
  return 'unknown';
}

/** tmux makes its socket anew on USR1: the way back when something cleaned up its folder. */
export async function restoreSocket(socketPath: string, server: ProcessRef): Promise<void> {
  await mkdir(dirname(socketPath), { recursive: true, mode: 0o700 });
  signalProcess(server, 'SIGUSR1');
}

/**
 * Waits for the server's process to be gone, ends it with KILL when it is not after `limitMs`, and removes the socket
 * that tmux leaves behind. Never unlinks the socket of a live server.
 */
export async function awaitServerEnd(
  server: ProcessRef,
  socketPath: string,
  options: { clock: Clock; limitMs: number },
): Promise<void> {
  if (!(await goneWithin(server, options.limitMs, options.clock))) {
    signalProcess(server, 'SIGKILL');
    await goneWithin(server, 2_000, options.clock);
  }
  if (!isAlive(server)) await removeFile(socketPath);
}
