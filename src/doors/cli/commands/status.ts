import type { CliHost } from '../host.js';
import { createPaint } from '../output/paint.js';
import { oneLine } from '../output/plain.js';
import { renderDisk, renderReport } from '../output/report.js';
import { table } from '../output/table.js';
import { watchStatus } from '../watch/watch-status.js';
import { whichSession } from './which-session.js';

const LOOKED_AT = 200;
const GOAL_CHARACTERS = 40;

export async function status(
  host: CliHost,
  prefix: string | undefined,
  options: { json: boolean; watch: boolean },
): Promise<number> {
  const sessionId = await whichSession(host, prefix);
  if (prefix === undefined) await nameOthers(host, sessionId);
  if (options.watch) return watchStatus(host, sessionId, options);
  if (options.json) {
    const report = await host.report(sessionId, { diskUse: true });
    host.terminal.out(`${JSON.stringify(report, null, 2)}\n`);
    return 0;
  }
  const paint = createPaint(host.terminal, host.env, 'stdout');
  const attachCommand = await host.attachCommand(sessionId);
  const columns = host.terminal.stdoutIsTty ? host.terminal.columns : null;
  // What takes long to measure comes behind what is known.
  host.terminal.out(
    renderReport(await host.report(sessionId), { paint, attachCommand, columns, diskFollows: true }),
  );
  const measured = await host.report(sessionId, { diskUse: true }).catch(() => null);
  host.terminal.out(`${measured === null ? 'not known' : renderDisk(measured)}\n`);
  return 0;
}

/** The other sessions of the same project that run now: they would be missed. */
async function nameOthers(host: CliHost, sessionId: string): Promise<void> {
  const sessions = await host.listSessions(LOOKED_AT);
  const project = sessions.find((session) => session.session_id === sessionId)?.project;
  const others = sessions.filter(
    (session) =>
      session.state === 'active' && session.project === project && session.session_id !== sessionId,
  );
  if (others.length === 0) return;
  const rows = others.map((session) => [
    session.session_id,
    `${session.workers_done}/${session.workers_total} done`,
    oneLine(session.goal, GOAL_CHARACTERS),
  ]);
  host.terminal.err(`also running in this project (agentorchestr status ID):\n${table(rows, '  ')}\n`);
}
