import { join } from 'node:path';
import { OrchestratorError } from '../core/errors/error.js';
import { createMutex, withFileLock } from '../platform/locks.js';

/**
 * One lock per repository around everything that git does not lock itself: registering and removing worktrees (a second
 * git reads the half-written entry), config writes, and fetch (it walks every worktree's HEAD). It lives in the common
 * git directory, so that two orchestrators with different homes on one clone share it; git and its status ignore it.
 */
export function createRepositoryLocks(options: {
  waitMs: number;
}): <T>(repository: string, work: () => Promise<T>) => Promise<T> {
  const inTurn = createTurns();
  return (repository, work) =>
    inTurn(repository, async () => {
      const onTimeout = () =>
        new OrchestratorError('GIT_FAILED', {
          command: 'lock',
          problem: `another process holds ${lockPath(repository)}.lock for more than ${options.waitMs} ms`,
          hint: 'wait for the other session on this repository, and try again',
        });
      try {
        return await withFileLock(lockPath(repository), { waitMs: options.waitMs, onTimeout }, work);
      } catch (error) {
        const { code, syscall } = error as NodeJS.ErrnoException;
        if (error instanceof OrchestratorError || syscall !== 'mkdir') throw error;
        throw new OrchestratorError(
          'GIT_FAILED',
          { command: 'lock', problem: `cannot write to ${repository}: ${code}` },
          { cause: error },
        );
      }
    });
}

function lockPath(repository: string): string {
  return join(repository, 'agentorchestr');
}

/** Work of the same key runs one after the other. */
export function createTurns(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const mutexes = new Map<string, ReturnType<typeof createMutex>>();
  return (key, work) => {
    const mutex = mutexes.get(key) ?? createMutex();
    mutexes.set(key, mutex);
    return mutex(work);
  };
}

/** At most `size` at a time, in the order they came. */
export function createSemaphore(size: number): <T>(work: () => Promise<T>) => Promise<T> {
  let free = size;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
