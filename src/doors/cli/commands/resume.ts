import { EXIT } from '../../../core/errors/categories.js';
import { OrchestratorError } from '../../../core/errors/error.js';
import { LEAD_ID } from '../../../core/ids.js';
import type { SessionReport } from '../../../services/supervise/session-report.js';
import type { CliHost } from '../host.js';
import { isTyped, readGoal } from '../goal/read-goal.js';
import { refuseContradictions } from '../action.js';
import { printWarning } from '../output/errors.js';
import type { Parsed } from '../parse.js';
import { finish } from '../watch/finish.js';
import { follow, shallAttach } from '../watch/follow.js';
import { whichToGoOn } from './which-session.js';

/**
 * Goes on with a session: shows one that runs, takes up one that nobody runs (paused, stopped, failed, or its supervisor
 * died), says what one that is done came to. `--goal` adds to its goal. Without an ID the only one of this project that
 * can go on. Throws USAGE, NO_SESSIONS, SESSION_NOT_FOUND, SESSION_AMBIGUOUS, SESSION_NOT_RESUMABLE.
 */
export async function resume(host: CliHost, parsed: Parsed): Promise<number> {
  refuseContradictions(parsed.given);
  const named = parsed.text('resume') ?? '';
  const sessionId = named === '' ? await whichToGoOn(host) : await host.findSession(named);
  const addition = isTyped(parsed) ? null : (await readGoal(parsed, host)).goal;
  const json = parsed.isOn('json') ?? false;
  const report = await host.report(sessionId);
  switch (report.state) {
    case 'active':
      if (parsed.isOn('kill-tmux') === true)
        printWarning(host.terminal, '--kill-tmux is not used: the session runs already');
      await addToGoal(host, report, addition);
      return follow(host, sessionId, { showPanes: shallAttach(host, parsed), json });
    case 'done':
      if (addition !== null) throw isDone(report);
      host.terminal.err(`session ${sessionId} is over; there is nothing to take up\n`);
      return finish(host, report, { json });
    default:
      if (report.cleaned_at !== null) throw isCleaned(report);
      return takeUp(host, report, parsed, addition);
  }
}

function isDone({ session_id: session, branch }: SessionReport): OrchestratorError {
  const from = branch === null ? '' : ` on top of its branch ${branch}`;
  return new OrchestratorError('SESSION_NOT_RESUMABLE', {
    session,
    problem: 'it is done',
    hint: `start another one with the new goal${from}`,
  });
}

function isCleaned({ session_id: session, cleaned_at: at }: SessionReport): OrchestratorError {
  return new OrchestratorError('SESSION_NOT_RESUMABLE', {
    session,
    problem: `it was cleaned at ${at}`,
    hint: `work that was kept, if there was any: agentorchestr salvage list ${session}`,
  });
}

async function takeUp(
  host: CliHost,
  report: SessionReport,
  parsed: Parsed,
  addition: string | null,
): Promise<number> {
  const { session_id: sessionId } = report;
  const showPanes = shallAttach(host, parsed);
  const { columns, rows, interrupted } = host.terminal;
  // From here on a Ctrl-C is heeded: what comes up meanwhile is paused as soon as it is there, and that is said.
  if (interrupted.aborted) return EXIT.interrupted;
  try {
    await host.takeUpSession({
      sessionId,
      terminal: showPanes ? { columns, rows } : null,
      killTmux: killTmux(parsed),
      addition,
    });
    host.terminal.err(`session ${sessionId} is taken up again\n`);
  } catch (error) {
    if (!(error instanceof OrchestratorError && error.code === 'SESSION_OWNED')) throw error;
    // Somebody else was quicker: it runs.
    await addToGoal(host, report, addition);
  }
  // What was looked at last is over.
  return follow(host, sessionId, { showPanes, json: parsed.isOn('json') ?? false, first: true });
}

/** Of a session that runs. */
async function addToGoal(host: CliHost, report: SessionReport, addition: string | null): Promise<void> {
  if (addition === null) return;
  const isAlone = report.mode === 'manual';
  const send = { name: 'send_to_worker', effect: 'write' } as const;
  await host.call(report.session_id, send, {
    worker_id: isAlone ? (report.workers[0]?.worker_id ?? '') : LEAD_ID,
    message: `The person adds to the goal:\n${addition}`,
  });
  host.terminal.err(`the ${isAlone ? 'agent' : 'lead'} is told what you add to the goal\n`);
}

/** null: as was said when the session began. */
function killTmux(parsed: Parsed): boolean | null {
  if (parsed.isOn('kill-tmux') === true) return true;
  return parsed.given.includes('no-tmux-cleanup') ? false : null;
}
