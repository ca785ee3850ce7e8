import type { CliHost } from '../host.js';
import { createPaint } from '../output/paint.js';
import { renderReport } from '../output/report.js';
import { whichSession } from './which-session.js';

export async function status(
  host: CliHost,
  prefix: string | undefined,
  options: { json: boolean },
): Promise<number> {
  const sessionId = await whichSession(host, prefix);
  const report = await host.report(sessionId, { diskUse: true });
  const paint = createPaint(host.terminal, host.env, 'stdout');
  host.terminal.out(
    options.json
      ? `${JSON.stringify(report, null, 2)}\n`
      : renderReport(report, { paint, attachCommand: await host.attachCommand(sessionId) }),
  );
  return 0;
}
