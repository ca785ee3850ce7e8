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
    await release();
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
