/**
 * Time as a parameter: every wait, cap and debounce takes its timers from here, so tests can drive them.
 * All durations are milliseconds; `now` is milliseconds since the epoch.
 */
export interface Clock {
  now(): number;
  /** Runs `task` once after `delayMs`; the returned function cancels it and may be called any number of times. */
  after(delayMs: number, task: () => void): () => void;
}

/** ISO time with milliseconds, the form of every `*_at` field on the wire and in the store. */
export function isoTime(clock: Pick<Clock, 'now'>): string {
  return new Date(clock.now()).toISOString();
}

/** Resolves after `delayMs`, or at once when `signal` aborts (never rejects: the caller looks at the signal). */
export function delay(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const finish = () => {
      cancel();
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const cancel = clock.after(delayMs, finish);
    signal?.addEventListener('abort', finish, { once: true });
  });
}

/** The outcome of `work`, or `otherwise` when it takes longer or fails: what hangs must not hold up an end. */
export async function within<T>(clock: Clock, limitMs: number, work: Promise<T>, otherwise: T): Promise<T> {
  const over = new AbortController();
  const late = delay(clock, limitMs, over.signal).then(() => otherwise);
  try {
    return await Promise.race([work.catch(() => otherwise), late]);
  } finally {
    over.abort();
  }
}
