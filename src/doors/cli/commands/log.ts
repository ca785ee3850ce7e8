import { EXIT } from '../../../core/errors/categories.js';
import { OrchestratorError } from '../../../core/errors/error.js';
import { workerIdSchema } from '../../../core/ids.js';
import type { CliHost } from '../host.js';
import { eventLine } from '../output/event-line.js';
import type { Parsed } from '../parse.js';
import { whichSession } from './which-session.js';

/** Prints what happened, one line per event; with `-f` also what happens, until the session is over. */
export async function log(host: CliHost, parsed: Parsed): Promise<number> {
  const worker = parsed.text('worker');
  if (worker !== undefined && !workerIdSchema.safeParse(worker).success)
    throw new OrchestratorError('USAGE', {
      problem: `--worker "${worker}" is no worker id`,
      hint: 'worker ids look like w01; the lead is "lead"',
    });
  const sessionId = await whichSession(host, parsed.positionals[0]);
  if (worker !== undefined && worker !== 'lead') await checkWorker(host, sessionId, worker);
  const { terminal } = host;
  const follow = parsed.isOn('follow') ?? false;
  const json = parsed.isOn('json') ?? false;
  for await (const event of host.events(sessionId, { after: 0, follow, signal: terminal.interrupted })) {
    if (worker !== undefined && event.worker_id !== worker) continue;
    terminal.out(json ? `${JSON.stringify(event)}\n` : `${eventLine(event)}\n`);
  }
  if (terminal.interrupted.aborted || !follow) return EXIT.ok;
  const { state } = await host.report(sessionId);
  if (state === 'crashed')
    terminal.err(`the supervisor of session ${sessionId} died; nothing more will happen\n`);
  return EXIT.ok;
}

async function checkWorker(host: CliHost, sessionId: string, worker: string): Promise<void> {
  const valid = (await host.report(sessionId)).workers.map(({ worker_id: id }) => id);
  if (!valid.includes(worker)) throw new OrchestratorError('UNKNOWN_WORKER', { worker, valid });
}
