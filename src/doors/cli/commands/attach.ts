import { OrchestratorError } from '../../../core/errors/error.js';
import type { CliHost } from '../host.js';
import { attachToSession } from '../watch/attach.js';
import { whichSession } from './which-session.js';

/** Shows the panes of a session, also of one that is over while its tmux server lives. */
export async function attach(host: CliHost, prefix: string | undefined): Promise<number> {
  const { terminal } = host;
  const sessionId = await whichSession(host, prefix);
  const command = await host.attachCommand(sessionId);
  if (command === null) throw new OrchestratorError('PANES_GONE', { session: sessionId });
  if (!terminal.stdinIsTty || !terminal.stdoutIsTty)
    throw new OrchestratorError('NOT_A_TTY', { what: 'attach', hint: `type this in a terminal: ${command}` });
  return attachToSession(host, sessionId);
}
