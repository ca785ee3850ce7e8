import { attachArguments, isServerAlive } from '../backends/tmux/attach.js';
import { OrchestratorError } from '../core/errors/error.js';
import type { Terminal } from '../doors/cli/host.js';
import { runInForeground } from '../platform/foreground.js';
import { readSession } from './cli-sessions.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Gives the terminal to the session's tmux, also from inside another tmux. Throws PANES_GONE, TMUX_MISSING. */
export async function attachTerminal(
  env: Environment,
  sessionId: string,
  terminal: Terminal,
  options: { first?: boolean } = {},
): Promise<{ exitCode: number | null }> {
  const socketName = await livingSocket(env, sessionId);
  if (socketName === null) throw new OrchestratorError('PANES_GONE', { session: sessionId });
  const [file = 'tmux', ...args] = attachArguments({
    socketName,
    sessionName: `agentorchestr-${sessionId}`,
    ...options,
  });
  try {
    const exitCode = await runInForeground(file, args, {
      env: { ...env, TMUX: undefined, TMUX_PANE: undefined },
      signal: terminal.interrupted,
    });
    return { exitCode };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new OrchestratorError('TMUX_MISSING', {}, { cause: error });
    throw error;
  }
}

/** null when the server is gone. */
export async function panesCommand(
  env: Environment,
  sessionId: string,
  options: { foreignHome: boolean },
): Promise<string | null> {
  const socket = await livingSocket(env, sessionId);
  if (socket === null) return null;
  return options.foreignHome ? `tmux -S ${socket} attach` : `agentorchestr attach ${sessionId}`;
}

async function livingSocket(env: Environment, sessionId: string): Promise<string | null> {
  const { tmux_socket: socketName } = await readSession(env, sessionId);
  if (socketName === null) return null;
  return (await isServerAlive({ socketName, env })) === 'no' ? null : socketName;
}
