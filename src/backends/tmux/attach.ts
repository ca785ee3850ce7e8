import { basename, isAbsolute } from 'node:path';
import { systemClock } from '../../platform/clock.js';
import { runProcess } from '../../platform/process.js';
import { processStartTime } from '../../platform/identity.js';
import { removeFile } from '../../platform/files.js';
import { awaitServerEnd, isListening, socketPathOf } from './server.js';
import type { Existence } from './types.js';

/**
 * For other processes than the session's supervisor: they hold no control connection. `socketName` is a name for
 * `tmux -L` (found through TMUX_TMPDIR of `env`) or the absolute path that was stored with the session.
 */
export interface ServerAddress {
  readonly socketName: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The whole command that attaches a terminal. Give it an environment without TMUX, or tmux refuses to nest. */
export function attachArguments(options: {
  socketName: string;
  sessionName: string;
  /** Shows the first window, whichever was looked at last. */
  first?: boolean;
}): readonly string[] {
  return [
    'tmux',
    '-u',
    ...socketOption(options.socketName),
    'attach-session',
    '-t',
    `=${options.sessionName}`,
    ...(options.first === true ? [';', 'select-window', '-t', `=${options.sessionName}:0`] : []),
  ];
}

export async function isServerAlive(address: ServerAddress): Promise<Existence> {
  return isListening(await pathOf(address));
}

/**
 * Ends the server with everything in it and removes its socket. Answers what is known afterwards: `no` = it is gone,
 * `unknown` = it did not answer. Processes that outlive their terminal are not its business: see `Backend.close`.
 */
export async function killServer(address: ServerAddress): Promise<Existence> {
  const socketPath = await pathOf(address);
  const alive = await isListening(socketPath);
  if (alive === 'unknown') return alive;
  if (alive === 'no') {
    await removeFile(socketPath);
    return 'no';
  }
  const options = { env: { ...address.env, TMUX: undefined }, timeoutMs: 10_000 };
  const tmux = ['-u', ...socketOption(address.socketName)];
  const answer = await runProcess(
    'tmux',
    [...tmux, 'display-message', '-p', '#{pid}', ';', 'kill-server'],
    options,
  );
  const pid = Number(answer.stdout.trim());
  const pidStartedAt = pid > 0 ? processStartTime(pid) : null;
  if (pidStartedAt !== null)
    await awaitServerEnd({ pid, pidStartedAt }, socketPath, { clock: systemClock, limitMs: 5_000 });
  else if ((await isListening(socketPath)) === 'no') await removeFile(socketPath);
  return isListening(socketPath);
}

function socketOption(socketName: string): [string, string] {
  return isAbsolute(socketName) ? ['-S', socketName] : ['-L', socketName];
}

async function pathOf(address: ServerAddress): Promise<string> {
  return isAbsolute(address.socketName)
    ? address.socketName
    : socketPathOf(basename(address.socketName), address.env);
}
