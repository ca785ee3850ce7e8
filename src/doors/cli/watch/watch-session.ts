import { isoTime } from '../../../core/clock.js';
import { OrchestratorError } from '../../../core/errors/error.js';
import type { SessionReport } from '../../../services/supervise/session-report.js';
import type { CliHost } from '../host.js';
import { printWarning } from '../output/errors.js';
import { coalesce } from './coalesce.js';
import { SETTLE_LIMIT_MS } from './finish.js';
import { createHeartbeat } from './heartbeat.js';
import { onInterrupt } from './on-interrupt.js';
import { pauseSession } from './pause-session.js';

/**
 * Watches a session in the foreground until it is over: heartbeat lines on stderr; INT or TERM pauses the session and
 * waits for that. Returns the last report, `crashed` when its supervisor died.
 */
export async function watchSession(host: CliHost, sessionId: string): Promise<SessionReport> {
  const heartbeat = createHeartbeat();
  const stop = new AbortController();
  const show = coalesce(async () => {
    const report = await host.report(sessionId).catch(() => null);
    if (report === null) return;
    const at = isoTime(host);
    const line = heartbeat.line(report, at);
    if (line !== null) host.terminal.err(`${line}\n`);
    const call = heartbeat.call(report, at);
    if (call !== null) host.terminal.err(`${call}${host.terminal.stderrIsTty ? '\u0007' : ''}\n`);
  });
  const unhook = onInterrupt(host.terminal.interrupted, () => void pause(host, sessionId));
  try {
    await show();
    for await (const event of host.events(sessionId, { after: 0, follow: true, signal: stop.signal })) {
      if (event.session_id === sessionId && heartbeat.hear(event)) void show();
    }
    await show();
  } finally {
    unhook();
  }
  if (!(await host.settled(sessionId, SETTLE_LIMIT_MS)))
    printWarning(host.terminal, 'the supervisor is still busy closing the session');
  return host.report(sessionId);
}

async function pause(host: CliHost, sessionId: string): Promise<void> {
  host.terminal.err('pausing the session; once more to leave at once\n');
  try {
    await pauseSession(host, sessionId, 'interrupted by the person');
  } catch (error) {
    // Nobody is left to pause, or it ends already: the watch tells how it ended.
    if (!(error instanceof OrchestratorError)) throw error;
  }
}
