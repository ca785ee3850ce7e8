import type { CliHost } from '../host.js';

/** Asks the supervisor to pause; it goes on ending its agents after the answer. Throws SUPERVISOR_NOT_RUNNING. */
export async function pauseSession(host: CliHost, sessionId: string, reason: string): Promise<void> {
  await host.call(sessionId, { name: 'pause', effect: 'write' }, { reason });
}
