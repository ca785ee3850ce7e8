import { join } from 'node:path';
import { OrchestratorError } from '../core/errors/error.js';
import { createMutex, withFileLock } from '../platform/locks.js';

/** As much of what waits goes through one hold of the lock: it costs as much as the work, and other processes wait too. */
const WORKS_OF_A_HOLD = 16;

interface Waiting {
  readonly run: () => Promise<void>;
  readonly fail: (error: unknown) => void;
}

/**
 * One lock per repository around everything that git does not lock itself: registering and removing worktrees (a second
 * git reads the half-written entry), config writes, and fetch (it walks every worktree's HEAD). It lives in the common
 * git directory, so that two orchestrators with different homes on one clone share it; git and its status ignore it.
 * Work of this process on one repository runs in the order it came.
 */
export function createRepositoryLocks(options: {
  waitMs: number;
}): <T>(repository: string, work: () => Promise<T>) => Promise<T> {
  const queues = new Map<string, Waiting[]>();
  return (repository, work) =>
    new Promise((resolve, reject) => {
      const run = () => work().then(resolve, reject);
      const queue = queues.get(repository) ?? [];
      queue.push({ run, fail: reject });
      if (queues.has(repository)) return;
      queues.set(repository, queue);
      void workOff(repository, queue, options, () => queues.delete(repository));
    });
}

/** Until nothing waits any more; `end` is called at that very moment. Never throws: each work has its own outcome. */
async function workOff(
  repository: string,
  queue: Waiting[],
  options: { waitMs: number },
  end: () => void,
): Promise<void> {
  while (queue.length > 0)
    try {
      await withFileLock(lockPath(repository), lockOptions(repository, options), async () => {
        for (let left = WORKS_OF_A_HOLD; left > 0 && queue.length > 0; left--) await queue.shift()?.run();
      });
    } catch (error) {
      queue.shift()?.fail(lockProblem(repository, error));
    }
  end();
}

function lockOptions(repository: string, { waitMs }: { waitMs: number }) {
  const onTimeout = () =>
    new OrchestratorError('GIT_FAILED', {
      command: 'lock',
      problem: `another process holds ${lockPath(repository)}.lock for more than ${waitMs} ms`,
      hint: 'wait for the other session on this repository, and try again',
    });
  return { waitMs, onTimeout };
}

function lockProblem(repository: string, error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (error instanceof OrchestratorError || syscall !== 'mkdir') return error;
  const problem = `cannot write to ${repository}: ${code}`;
  return new OrchestratorError('GIT_FAILED', { command: 'lock', problem }, { cause: error });
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
