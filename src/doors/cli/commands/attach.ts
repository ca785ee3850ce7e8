import { OrchestratorError, toOrchestratorError } from '../../../core/errors/error.js';
import type { CliHost } from '../host.js';
import { printWarning } from '../output/errors.js';
import { attachToSession } from '../watch/attach.js';
import { whichSession } from './which-session.js';

/** Shows the panes of a session, also of one that is over while its tmux server lives. */
export async function attach(
  host: CliHost,
  prefix: string | undefined,
  options: { fit: boolean },
): Promise<number> {
  const { terminal } = host;
  const sessionId = await whichSession(host, prefix);
  const command = await host.attachCommand(sessionId);
  if (command === null) throw new OrchestratorError('PANES_GONE', { session: sessionId });
  if (!terminal.stdinIsTty || !terminal.stdoutIsTty)
    throw new OrchestratorError('NOT_A_TTY', { what: 'attach', hint: `type this in a terminal: ${command}` });
  if (options.fit) await fit(host, sessionId);
  return attachToSession(host, sessionId);
}

/** A session that is over shows what it has at the size that it has. */
async function fit(host: CliHost, sessionId: string): Promise<void> {
  const { columns, rows } = host.terminal;
  try {
    await host.call(sessionId, { name: 'reflow', effect: 'write' }, { columns, rows });
  } catch (thrown) {
    const error = toOrchestratorError(thrown);
    printWarning(host.terminal, `the panes keep their size: ${error.message}`);
  }
}
