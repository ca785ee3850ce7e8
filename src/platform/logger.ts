import { pino, type Logger } from 'pino';
import type { Redactor } from './redact.js';

export type { Logger } from 'pino';

/** JSON lines to `destination` (a file) or stderr. Levels: error = act, warn = degraded, info = life cycle, debug = decisions. */
export function createLogger(options: {
  level: string;
  destination: string | null;
  redactor: Redactor;
}): Logger {
  const sink =
    options.destination === null
      ? pino.destination({ dest: 2, sync: true })
      : pino.destination({ dest: options.destination, sync: true, mode: 0o600 });
  const stream = { write: (line: string) => sink.write(options.redactor.redact(line)) };
  return pino({ level: options.level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, stream);
}

export const silentLogger: Logger = pino({ level: 'silent' });
