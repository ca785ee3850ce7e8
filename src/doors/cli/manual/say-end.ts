import type { CliHost } from '../host.js';

/** Between the agent's end and the summary: what takes time is said. Before that the terminal is the agent's. */
export async function sayEnd(host: CliHost, sessionId: string, signal: AbortSignal): Promise<void> {
  const say = (text: string) => host.terminal.err(`${text}\n`);
  try {
    for await (const event of host.events(sessionId, { after: 0, follow: true, signal })) {
      if (event.session_id !== sessionId) continue;
      if (event.type === 'worker.exited') say('\nthe agent has ended; its work is looked at');
      if (event.type === 'verify.started' && event.data.commands.length > 0)
        say(`verifying: ${event.data.commands.join(' · ')}   (Ctrl-C pauses)`);
    }
  } catch (error) {
    // Words only; how it ended is told by the summary.
    if (!signal.aborted) say(`warning: ${String(error)}`);
  }
}
