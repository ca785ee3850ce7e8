import { EXIT } from '../../../core/errors/categories.js';
import type { CliHost } from '../host.js';
import { pauseSession } from '../watch/pause-session.js';
import { whichRunningSession } from './which-session.js';

const SETTLE_LIMIT_MS = 90_000;

/** Pauses a session and waits until its agents have ended. */
export async function pause(
  host: CliHost,
  prefix: string | undefined,
  options: { json: boolean },
): Promise<number> {
  const sessionId = await whichRunningSession(host, prefix, (id) => `agentorchestr pause ${id}`);
  await pauseSession(host, sessionId, 'paused by the person');
  return tellSettled(host, sessionId, { wanted: 'paused', json: options.json });
}

/** Waits until the supervisor is done with the session, and says what it is then. */
export async function tellSettled(
  host: CliHost,
  sessionId: string,
  { wanted, json }: { wanted: string; json: boolean },
): Promise<number> {
  const settled = await host.settled(sessionId, SETTLE_LIMIT_MS);
  const report = await host.report(sessionId);
  if (json) host.terminal.out(`${JSON.stringify({ session_id: sessionId, state: report.state }, null, 2)}\n`);
  else
    host.terminal.out(
      settled
        ? `session ${sessionId} is ${report.state}\n`
        : `session ${sessionId} is still ending its agents\n`,
    );
  if (settled && report.resumable && !json)
    host.terminal.err(`to go on: agentorchestr --resume ${sessionId}\n`);
  return report.state === wanted ? EXIT.ok : EXIT.operation;
}
