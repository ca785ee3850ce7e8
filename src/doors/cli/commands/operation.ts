import type { Operation } from '../../../services/operation.js';
import type { CliHost, Terminal } from '../host.js';
import { renderAnswer } from '../output/answer.js';
import type { Parsed } from '../parse.js';
import { operationInput } from './operation-flags.js';
import { whichRunningSession, whichSession } from './which-session.js';

/** One operation of the table as a command. Reads work on any session, the rest on one that runs. */
export async function runOperation(host: CliHost, operation: Operation, parsed: Parsed): Promise<number> {
  const input = { ...terminalSize(operation, host.terminal), ...operationInput(operation, parsed) };
  const which = operation.effect === 'read' ? whichSession : whichRunningSession;
  const sessionId = await which(host, parsed.text('session'));
  const answer = await host.call(sessionId, operation, input);
  host.terminal.out(
    parsed.isOn('json') === true ? `${JSON.stringify(answer, null, 2)}\n` : renderAnswer(answer),
  );
  return 0;
}

/** What the operation takes from the terminal; nothing where there is none. */
function terminalSize(operation: Operation, terminal: Terminal): Record<string, unknown> {
  if (!terminal.stdoutIsTty) return {};
  return Object.fromEntries((operation.fromTerminal ?? []).map((field) => [field, terminal[field]]));
}
