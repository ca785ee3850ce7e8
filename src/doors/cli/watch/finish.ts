import { EXIT } from '../../../core/errors/categories.js';
import type { SessionReport } from '../../../services/supervise/session-report.js';
import type { CliHost } from '../host.js';
import { createPaint } from '../output/paint.js';
import { renderReport } from '../output/report.js';

/** The end of a supervisor after its session's last event: closing tmux, deleting trash. */
export const SETTLE_LIMIT_MS = 20_000;

/** Prints what the session came to (data: on stdout) and returns the exit code that says the same. */
export async function finish(
  host: CliHost,
  found: SessionReport,
  options: { json: boolean },
): Promise<number> {
  const { terminal } = host;
  const report = host.isTemporary ? { ...found, resumable: false } : found;
  if (options.json) terminal.out(`${JSON.stringify(report, null, 2)}\n`);
  else {
    const paint = createPaint(terminal, host.env, 'stdout');
    terminal.out(
      `\n${renderReport(report, {
        ...{ paint, attachCommand: await host.attachCommand(report.session_id) },
        columns: terminal.stdoutIsTty ? terminal.columns : null,
      })}`,
    );
  }
  if (report.state === 'crashed')
    terminal.err(
      `the supervisor of session ${report.session_id} died; what its workers did is in their worktrees and branches. Go on with it: agentorchestr --resume ${report.session_id}\n`,
    );
  return exitCodeOf(report);
}

export function exitCodeOf(report: SessionReport): number {
  return report.state === 'done' ? EXIT.ok : EXIT.endedOtherwise;
}

/** The person left the panes; the session did not end. */
export async function leave(host: CliHost, sessionId: string): Promise<number> {
  const command = await host.attachCommand(sessionId);
  host.terminal.err(`session ${sessionId} goes on${command === null ? '' : `; ${command}`}\n`);
  return EXIT.goesOn;
}

export function isOver(report: SessionReport): boolean {
  return report.state !== 'active';
}
