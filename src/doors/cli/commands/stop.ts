import type { CliHost } from '../host.js';
import { whichRunningSession } from './which-session.js';
import { tellSettled } from './pause.js';

/** Ends a session as failed and waits until its agents have ended; `--resume` goes on with it all the same. */
export async function stop(
  host: CliHost,
  prefix: string | undefined,
  options: { reason: string; json: boolean },
): Promise<number> {
  const sessionId = await whichRunningSession(host, prefix, (id) => `agentorchestr stop ${id}`);
  await host.call(sessionId, { name: 'stop', effect: 'write' }, { reason: options.reason });
  return tellSettled(host, sessionId, { wanted: 'failed', json: options.json });
}
