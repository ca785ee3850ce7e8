import type { Sentinel } from '../../core/sentinels.js';
import type { MessageRow, ReportedOutcome, RunRow } from '../../core/state/rows.js';

const STATES = { done: 'succeeded', blocked: 'blocked', failed: 'failed' } as const;

/**
 * What the sentinel lines say of a run, or null. A line with a nonce counts for the run it names; a plain one where
 * that very line occurs nowhere in what was sent, so that an echo of the prompt proves nothing. The last one wins.
 */
export function reportOfSentinels(
  sentinels: readonly Sentinel[],
  run: RunRow,
  sent: readonly MessageRow[],
): Pick<ReportedOutcome, 'state' | 'summary'> | null {
  const last = sentinels
    .filter(({ nonce, line }) =>
      nonce === null ? !sent.some((message) => message.text.includes(line)) : nonce === run.nonce,
    )
    .at(-1);
  return last === undefined ? null : { state: STATES[last.word], summary: last.summary };
}
