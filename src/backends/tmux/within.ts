import { delay, type Clock } from '../../core/clock.js';

/** The outcome of `work`, or `otherwise` when it takes longer: a server that hangs must not hold up an end. */
export async function within<T>(clock: Clock, limitMs: number, work: Promise<T>, otherwise: T): Promise<T> {
  const over = new AbortController();
  const late = delay(clock, limitMs, over.signal).then(() => otherwise);
  try {
    return await Promise.race([work.catch(() => otherwise), late]);
  } finally {
    over.abort();
  }
}
