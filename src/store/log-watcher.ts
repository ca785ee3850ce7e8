import { basename, dirname } from 'node:path';
import type { Clock } from '../core/clock.js';
import type { Logger } from '../platform/logger.js';
import { watchDirectory } from '../platform/watch.js';

/** Only for what the watch missed: a writer killed at the wrong instant, a folder that cannot be watched. */
const SAFETY_REREAD_MS = 15_000;

/**
 * Calls `look` whenever some process may have committed to the database at `path`; most calls are for nothing, so
 * `look` must be cheap. Costs nothing before `start` and after `stop`, and no timer but the slow one between them.
 */
export class LogWatcher {
  readonly #options: { path: string; clock: Clock; logger: Logger | undefined; look: () => void };
  #stopWatching: (() => void) | null = null;
  #cancelReread: () => void = () => {};

  constructor(options: { path: string; clock: Clock; logger: Logger | undefined; look: () => void }) {
    this.#options = options;
  }

  start(): void {
    if (this.#stopWatching !== null) return;
    const { path, logger, look } = this.#options;
    const walName = `${basename(path)}-wal`;
    this.#stopWatching = watchDirectory(
      dirname(path),
      (name) => {
        if (name === walName) look();
      },
      (error) =>
        logger?.warn({ err: error, path }, 'the folder cannot be watched: commits of others come late'),
    );
    this.#armReread();
  }

  stop(): void {
    this.#stopWatching?.();
    this.#stopWatching = null;
    this.#cancelReread();
  }

  #armReread(): void {
    this.#cancelReread = this.#options.clock.after(SAFETY_REREAD_MS, () => {
      this.#armReread();
      this.#options.look();
    });
  }
}
