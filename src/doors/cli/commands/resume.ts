import { OrchestratorError } from '../../../core/errors/error.js';
import type { CliHost } from '../host.js';
import { refuseContradictions } from '../goal/settings.js';
import { printWarning } from '../output/errors.js';
import type { Parsed } from '../parse.js';
import { finish } from '../watch/finish.js';
import { follow, shallAttach } from '../watch/follow.js';

/**
 * Goes on with a session: shows one that runs, takes up one whose supervisor died, says what one that is over came to.
 * Throws SESSION_NOT_FOUND, SESSION_AMBIGUOUS, SESSION_NOT_RESUMABLE.
 */
export async function resume(host: CliHost, parsed: Parsed): Promise<number> {
  refuseContradictions(parsed.given);
  const sessionId = await host.findSession(parsed.text('resume') ?? '');
  const json = parsed.isOn('json') ?? false;
  const report = await host.report(sessionId);
  if (report.cleaned_at !== null && report.state !== 'done')
    throw new OrchestratorError('SESSION_NOT_RESUMABLE', {
      session: sessionId,
      problem: `it was cleaned at ${report.cleaned_at}`,
      hint: `work that was kept: agentorchestr salvage list ${sessionId}`,
    });
  switch (report.state) {
    case 'active':
      if (parsed.isOn('kill-tmux') === true)
        printWarning(host.terminal, '--kill-tmux is not used: the session runs already');
      return follow(host, sessionId, { showPanes: shallAttach(host, parsed), json });
    case 'crashed':
      return takeUp(host, sessionId, parsed);
    case 'paused':
      throw new OrchestratorError('SESSION_NOT_RESUMABLE', {
        session: sessionId,
        problem: `it is paused (${report.reason ?? 'its agents were ended'})`,
      });
    default:
      host.terminal.err(`session ${sessionId} is over; there is nothing to take up\n`);
      return finish(host, report, { json });
  }
}

async function takeUp(host: CliHost, sessionId: string, parsed: Parsed): Promise<number> {
  const showPanes = shallAttach(host, parsed);
  const { columns, rows } = host.terminal;
  try {
    await host.takeUpSession({
      sessionId,
      terminal: showPanes ? { columns, rows } : null,
      killTmux: killTmux(parsed),
    });
    host.terminal.err(`session ${sessionId} is taken up again\n`);
  } catch (error) {
    // Somebody else was quicker: it runs.
    if (!(error instanceof OrchestratorError && error.code === 'SESSION_OWNED')) throw error;
  }
  return follow(host, sessionId, { showPanes, json: parsed.isOn('json') ?? false });
}

/** null: as was said when the session began. */
function killTmux(parsed: Parsed): boolean | null {
  if (parsed.isOn('kill-tmux') === true) return true;
  return parsed.given.includes('no-tmux-cleanup') ? false : null;
}
