import { closeSync, writeSync } from 'node:fs';
import { CATALOG } from '../core/errors/catalog.js';
import { OrchestratorError, type errorBody } from '../core/errors/error.js';

/**
 * What a process that is started in the background says to whoever started it, in one line of JSON on descriptor 3: that
 * it is ready, or why it is not. After that nobody listens.
 */
export type StartMessage<Ready> =
  { readonly ready: Ready } | { readonly error: ReturnType<typeof errorBody> };

const READY_FD = 3;

export function tellStarter(message: StartMessage<unknown>): void {
  try {
    writeSync(READY_FD, `${JSON.stringify(message)}\n`);
    closeSync(READY_FD);
  } catch {
    // Whoever started it is gone; it goes on without.
  }
}

/** Of the line that was read. Throws its error as if it were thrown here, and `unexpected` for one that is in no catalogue. */
export function readyOf<Ready>(line: string, unexpected: (problem: string) => OrchestratorError): Ready {
  const message = JSON.parse(line) as StartMessage<Ready>;
  if ('ready' in message) return message.ready;
  const { code, params, message: problem } = message.error;
  if (code in CATALOG && code !== 'INTERNAL') throw new OrchestratorError(code, params);
  throw unexpected(problem);
}
