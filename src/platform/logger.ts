import { pino, type Logger } from 'pino';
import type { Redactor } from './redact.js';

export type { Logger } from 'pino';

/** JSON lines to `destination` (the path of a file, or what takes them) or stderr. Levels: error = act, warn = degraded, info = life cycle, debug = decisions. */
export function createLogger(options: {
  level: string;
  destination: string | { write(line: string): void } | null;
  redactor: Redactor;
}): Logger {
  const { destination } = options;
  const sink =
    typeof destination === 'object' && destination !== null
      ? destination
      : pino.destination({ dest: destination ?? 2, sync: true, mode: 0o600 });
  const stream = { write: (line: string) => sink.write(options.redactor.redact(line)) };
  return pino({ level: options.level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, stream);
}

export const silentLogger: Logger = pino({ level: 'silent' });
