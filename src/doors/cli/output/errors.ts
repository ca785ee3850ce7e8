import { errorBody, toOrchestratorError, type OrchestratorError } from '../../../core/errors/error.js';
import type { Terminal } from '../host.js';
import { plain } from './plain.js';

/** `error:` and `hint:` for people on stderr; with `json` the object on stdout too. Returns the exit code. */
export function printError(terminal: Terminal, thrown: unknown, options: { json: boolean }): number {
  const error = toOrchestratorError(thrown);
  const hint = error.hint;
  terminal.err(`error: ${plain(error.message)}\n`);
  if (hint !== undefined) terminal.err(`hint: ${plain(hint)}\n`);
  if (error.code === 'INTERNAL') terminal.err(`${plain(causeOf(error))}\n`);
  if (options.json) terminal.out(`${JSON.stringify({ error: errorBody(error) }, null, 2)}\n`);
  return error.exitCode;
}

export function printWarning(terminal: Terminal, text: string): void {
  terminal.err(`warning: ${plain(text)}\n`);
}

function causeOf(error: OrchestratorError): string {
  return error.cause instanceof Error ? (error.cause.stack ?? error.cause.message) : String(error.cause);
}
