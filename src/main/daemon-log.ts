import { existsSync, readFileSync, renameSync, truncateSync } from 'node:fs';
import { LogFile, type LogLimits } from '../platform/log-file.js';

/** What a daemon in the background writes: its log, and beside it what only the runtime says when it breaks. */
export interface DaemonLog {
  write(text: string): void;
  /** Goes on under the name of the address that it got. Returns the path of the log. */
  moveTo(base: string): string;
}

export const logPath = (base: string): string => `${base}.log`;
/** Standard output and error. Nobody can put aside a file that is open for those, so it must stay small. */
export const lastWordsPath = (base: string): string => `${base}.err`;

export function openDaemonLog(base: string, limits: LogLimits): DaemonLog {
  const log = new LogFile(logPath(base), limits);
  takeOver(log, base);
  return {
    write: (text) => log.write(text),
    moveTo(next) {
      log.moveTo(logPath(next));
      if (next !== base) {
        takeOver(log, next);
        renameSync(lastWordsPath(base), lastWordsPath(next));
      }
      return log.path;
    },
  };
}

/** What an earlier daemon said in the end becomes part of the log. */
function takeOver(log: LogFile, base: string): void {
  const path = lastWordsPath(base);
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  if (text === '') return;
  log.write(text.endsWith('\n') ? text : `${text}\n`);
  truncateSync(path);
}
