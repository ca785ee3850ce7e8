import { EXIT } from '../../../core/errors/categories.js';
import { OrchestratorError } from '../../../core/errors/error.js';
import { workerIdSchema } from '../../../core/ids.js';
import type { CliHost } from '../host.js';
import { eventLine } from '../output/event-line.js';
import type { Parsed } from '../parse.js';
import { followOutput } from '../watch/follow-output.js';
import { whichSession } from './which-session.js';

/**
 * Prints what happened, one line per event; with `-f` also what happens, until the session is over. With `--output`
 * what the worker's own terminal shows instead.
 */
export async function log(host: CliHost, parsed: Parsed): Promise<number> {
  const worker = parsed.text('worker');
  if (worker !== undefined && !workerIdSchema.safeParse(worker).success)
    throw new OrchestratorError('USAGE', {
      problem: `--worker "${worker}" is no worker id`,
      hint: 'worker ids look like w01; the lead is "lead"',
    });
  const output = parsed.isOn('output') ?? false;
  if (output && worker === undefined)
    throw new OrchestratorError('USAGE', {
      problem: '--output is the terminal of one worker',
      hint: 'say whose: agentorchestr log --worker w01 --output',
    });
  const sessionId = await whichSession(host, parsed.positionals[0]);
  if (worker !== undefined && worker !== 'lead') await checkWorker(host, sessionId, worker);
  const { terminal } = host;
  const follow = parsed.isOn('follow') ?? false;
  const json = parsed.isOn('json') ?? false;
  if (output && worker !== undefined) await followOutput(host, sessionId, { worker, follow, json });
  else await printEvents(host, sessionId, { worker, follow, json });
  if (terminal.interrupted.aborted || !follow) return EXIT.ok;
  const { state } = await host.report(sessionId);
  if (state === 'crashed')
    terminal.err(`the supervisor of session ${sessionId} died; nothing more will happen\n`);
  return EXIT.ok;
}

async function printEvents(
  { terminal, events }: CliHost,
  sessionId: string,
  { worker, follow, json }: { worker: string | undefined; follow: boolean; json: boolean },
): Promise<void> {
  for await (const event of events(sessionId, { after: 0, follow, signal: terminal.interrupted })) {
    if (worker !== undefined && event.worker_id !== worker) continue;
    terminal.out(json ? `${JSON.stringify(event)}\n` : `${eventLine(event)}\n`);
  }
}

async function checkWorker(host: CliHost, sessionId: string, worker: string): Promise<void> {
  const valid = (await host.report(sessionId)).workers.map(({ worker_id: id }) => id);
  if (!valid.includes(worker)) throw new OrchestratorError('UNKNOWN_WORKER', { worker, valid });
}
