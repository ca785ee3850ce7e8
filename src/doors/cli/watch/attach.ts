import type { CliHost } from '../host.js';
import { printWarning } from '../output/errors.js';
import { finish, isOver, leave, SETTLE_LIMIT_MS } from './finish.js';

/**
 * Gives the terminal to the session's panes. When it comes back: the summary if the session is over, else word that it
 * goes on. Returns the exit code.
 */
export async function attachToSession(
  host: CliHost,
  sessionId: string,
  options: { first?: boolean } = {},
): Promise<number> {
  const { exitCode } = await host.attach(sessionId, options);
  const report = await host.report(sessionId);
  if (!isOver(report)) {
    if (exitCode !== 0)
      printWarning(host.terminal, `tmux ended the view of the panes (status ${exitCode ?? 'unknown'})`);
    return leave(host, sessionId);
  }
  await host.settled(sessionId, SETTLE_LIMIT_MS);
  return finish(host, await host.report(sessionId), { json: false });
}
