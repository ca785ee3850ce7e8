import type { StoredEvent } from '../../src/core/events/index.js';
import type { Kernel } from './table.js';

/**
 * What is left out: how processes come and go (one that stays, or one a turn), and that a text is held for a moment. What
 * is left must be equal everywhere, in order.
 */
const LEFT_OUT: readonly string[] = [
  ...['worker.started', 'worker.ready', 'worker.moved', 'run.attempt_ended', 'run.attempt_failed'],
  'message.held',
];

export function kernelOf(events: readonly StoredEvent[], workerId: string): Kernel {
  const mine = events.filter(({ worker_id: id, type }) => id === workerId && !LEFT_OUT.includes(type));
  const started = new Set<string | undefined>();
  // A run that goes on in another process has begun once.
  const isAgain = ({ type, run_id: runId }: StoredEvent) =>
    type === 'run.started' && (started.has(runId) || started.add(runId).size === 0);
  const counted = mine.filter((event) => !isAgain(event)).map(({ type }) => type);
  const about = (noun: string) =>
    counted.filter((type) => type.startsWith(`${noun}.`)).map((type) => type.slice(noun.length + 1));
  return { message: about('message'), run: about('run'), worker: about('worker') };
}
