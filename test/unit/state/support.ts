import type { EventName, StoredEvent } from '../../../src/core/events/index.js';
import { sampleEvent } from '../../support/sample-events.js';

type Fold<Row> = (row: Row | null, event: StoredEvent) => Row | null;
export type Step = EventName | ReturnType<typeof sampleEvent>;

/** The time of the n-th step (from 0). */
export const at = (step: number) => `2026-01-01T00:00:0${step}.000Z`;

/** The row after each step in turn; step n has seq n + 1 and time at(n). */
export function foldAll<Row>(fold: Fold<Row>, steps: readonly Step[], from: Row | null = null): Row | null {
  return steps.reduce<Row | null>((row, step, index) => {
    const event = typeof step === 'string' ? sampleEvent(step) : step;
    return fold(row, { at: at(index), ...event, seq: index + 1, v: 1 });
  }, from);
}

/** Like foldAll, for a row that must exist in the end. */
export function folded<Row>(fold: Fold<Row>, steps: readonly Step[]): Row {
  const row = foldAll(fold, steps);
  if (row === null) throw new Error('the fold made no row');
  return row;
}
