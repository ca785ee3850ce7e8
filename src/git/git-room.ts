import type { Clock } from '../core/clock.js';
import type { Logger } from '../platform/logger.js';
import type { Environment } from './git-environment.js';
import type { GitRunner } from './run-git.js';

/** What every part of this room gets. */
export interface GitRoom extends GitRunner {
  readonly clock: Clock;
  readonly logger: Logger;
  /** The user's environment as it was given. */
  readonly env: Environment;
  /** Runs `work` under the lock of one repository (its common git directory), across processes. */
  locked<T>(repository: string, work: () => Promise<T>): Promise<T>;
  /** Two at a time: filling a working tree keeps a core busy. */
  filling<T>(work: () => Promise<T>): Promise<T>;
  /** One after the other for the same key, inside this process. */
  inTurn<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Work that goes on after the answer; `idle()` of the room waits for it. */
  background(work: Promise<unknown>): void;
}
