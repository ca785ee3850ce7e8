import type { CliHost } from '../host.js';
import { printWarning } from '../output/errors.js';
import type { Parsed } from '../parse.js';
import { attachToSession } from './attach.js';
import { finish, isOver } from './finish.js';
import { watchSession } from './watch-session.js';

/** `--attach`, `--no-attach`, or: when somebody sits at a terminal that is not a tmux pane already. */
export function shallAttach(host: CliHost, parsed: Parsed): boolean {
  const { terminal, env } = host;
  const wish = parsed.isOn('attach');
  if (wish === false || parsed.isOn('json') === true) return false;
  const isTty = terminal.stdinIsTty && terminal.stdoutIsTty;
  if (!isTty) {
    if (wish === true)
      printWarning(terminal, '--attach needs a terminal; attach from one with the command below');
    return false;
  }
  if (wish === true || (env['TMUX'] ?? '') === '') return true;
  terminal.err('You are inside tmux: the panes are not shown here (--attach nests them).\n');
  return false;
}

/** Shows a session that runs, as panes or as heartbeat lines, until it is over or the person leaves. Returns the exit code. */
export async function follow(
  host: CliHost,
  sessionId: string,
  options: { showPanes: boolean; json: boolean; first?: boolean },
): Promise<number> {
  const { terminal } = host;
  if (options.showPanes && !isOver(await host.report(sessionId)) && !terminal.interrupted.aborted)
    return attachToSession(host, sessionId, options);
  const command = await host.attachCommand(sessionId);
  const panes = command === null ? '' : ` To see the panes: ${command}`;
  terminal.err(`session ${sessionId} runs; Ctrl-C pauses it.${panes}\n`);
  return finish(host, await watchSession(host, sessionId), options);
}
