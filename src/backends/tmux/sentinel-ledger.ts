import type { Sentinel } from '../../core/sentinels.js';

/**
 * Tells new sentinel lines from old ones by counting: a line is new as often as it is seen more often at once than
 * before. Redraws, scrolling and a screen that hides and shows its text again never make an old line new.
 */
export class SentinelLedger {
  private readonly known = new Map<string, number>();

  /** Everything in `found` is known from now on; returns what was not, oldest first. */
  take(found: readonly Sentinel[]): readonly Sentinel[] {
    const counts = new Map<string, number>();
    for (const { line } of found) counts.set(line, (counts.get(line) ?? 0) + 1);
    const fresh: Sentinel[] = [];
    const toSkip = new Map(
      [...counts.keys()].map((line) => [line, Math.min(this.known.get(line) ?? 0, counts.get(line) ?? 0)]),
    );
    for (const sentinel of found) {
      const skip = toSkip.get(sentinel.line) ?? 0;
      if (skip > 0) toSkip.set(sentinel.line, skip - 1);
      else fresh.push(sentinel);
    }
    for (const [line, count] of counts) this.known.set(line, Math.max(count, this.known.get(line) ?? 0));
    return fresh;
  }
}
