import { randomBytes } from 'node:crypto';
import { readFile, readlink, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { lock } from 'proper-lockfile';
import { delay } from '../core/clock.js';
import type { OrchestratorError } from '../core/errors/error.js';
import { systemClock } from './clock.js';
import { isSameProcessAlive, ownIdentity, type ProcessIdentity } from './identity.js';

const STALE_MS = 30_000;
const LONGEST_PAUSE_MS = 50;
/** The library rounds the time of a lock up to a full second. */
const ROUNDED_UP_MS = 1_010;

/**
 * Runs `work` under a lock that holds across processes: a folder `<path>.lock`, stale after 30 s without renewal, and at
 * once when the process that `<path>.lock.owner` names is dead. Waits up to `waitMs` with growing pauses; `onTimeout`
 * makes the error.
 */
export async function withFileLock<T>(
  path: string,
  options: { waitMs: number; onTimeout: () => OrchestratorError },
  work: () => Promise<T>,
): Promise<T> {
  const release = await acquire(path, options);
  const owner = ownerFile(path);
  try {
    // Only a help for others: without it the lock holds as well.
    await writeFile(owner, JSON.stringify(await self()), { mode: 0o600 }).catch(() => undefined);
    return await work();
  } finally {
    await rm(owner, { force: true }).catch(() => undefined);
    await release().catch(() => undefined);
  }
}

async function acquire(
  path: string,
  options: { waitMs: number; onTimeout: () => OrchestratorError },
): Promise<() => Promise<void>> {
  const deadline = systemClock.now() + options.waitMs;
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS)) {
    try {
      return await lock(path, {
        realpath: false,
        stale: STALE_MS,
        // The default throws from a timer: a laptop that slept longer than that would lose its supervisor. The work goes
        // on; whoever took the lock meanwhile took it from a process that could not answer.
        onCompromised: () => undefined,
      });
    } catch (error) {
      if ((error as { code?: string }).code !== 'ELOCKED') throw error;
    }
    if (await breakDead(path)) continue;
    if (systemClock.now() >= deadline) throw options.onTimeout();
    await delay(systemClock, pauseMs * (1 + Math.random()));
  }
}

interface Holder extends ProcessIdentity {
  /** Where its pid means anything. */
  readonly pidSpace: string;
}

async function self(): Promise<Holder> {
  return { ...ownIdentity(), pidSpace: await readlink('/proc/self/ns/pid').catch(() => '') };
}

function ownerFile(path: string): string {
  return `${path}.lock.owner`;
}

/** Frees a lock whose holder was killed; of several that try, the one that gets the owner's file does it. */
async function breakDead(path: string): Promise<boolean> {
  const file = ownerFile(path);
  try {
    const [content, held, named] = await Promise.all([
      readFile(file, 'utf8'),
      stat(`${path}.lock`),
      stat(file),
    ]);
    // A lock that is younger than the name beside it is somebody else's, who is about to write theirs.
    if (held.mtimeMs > named.mtimeMs + ROUNDED_UP_MS) return false;
    const holder = JSON.parse(content) as Holder;
    const { bootId, pidSpace } = await self();
    // Of a process on another machine, or in a container, nothing is known.
    if (holder.bootId !== bootId || holder.pidSpace !== pidSpace || isSameProcessAlive(holder)) return false;
    const claimed = `${file}.${randomBytes(4).toString('hex')}`;
    await rename(file, claimed);
    const isThatOne = (await readFile(claimed, 'utf8')) === content;
    if (!isThatOne) {
      await rename(claimed, file);
      return false;
    }
    await rm(claimed);
    await rmdir(`${path}.lock`);
    return true;
  } catch {
    // Gone or half written meanwhile: whoever is at it is alive.
    return false;
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
