import { lock } from 'proper-lockfile';
import type { OrchestratorError } from '../core/errors/error.js';

/**
 * Runs `work` under a lock that holds across processes (a folder `<path>.lock`; stale after 30 s without renewal).
 * Waits up to `waitMs` with growing pauses; `onTimeout` makes the error.
 */
export async function withFileLock<T>(
  path: string,
  options: { waitMs: number; onTimeout: () => OrchestratorError },
  work: () => Promise<T>,
): Promise<T> {
  const pauseMs = 50;
  let release: () => Promise<void>;
  try {
    release = await lock(path, {
      realpath: false,
      stale: 30_000,
      // The default throws from a timer: a laptop that slept longer than that would lose its supervisor. The work goes on;
      // whoever took the lock meanwhile took it from a process that could not answer.
      onCompromised: () => undefined,
      retries: {
        retries: Math.ceil(options.waitMs / pauseMs),
        minTimeout: 5,
        maxTimeout: pauseMs,
        factor: 1.5,
        randomize: true,
      },
    });
  } catch (error) {
    if ((error as { code?: string }).code === 'ELOCKED') throw options.onTimeout();
    throw error;
  }
  try {
    return await work();
  } finally {
    await release().catch(() => undefined);
  }
}

/** A lock inside this process: calls run one after the other, in the order they came. */
export function createMutex(): <T>(work: () => Promise<T>) => Promise<T> {
  let tail: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = tail.then(work, work);
    tail = result.catch(() => undefined);
    return result;
  };
}
