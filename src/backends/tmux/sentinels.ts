import type { Sentinel } from '../contract.js';

/** What programs draw before a line of text: bullets, prompts, borders. A quote or a back-tick is none: that is prose. */
const DECORATION = /^[\s│┃║|▌▍▎▏▐█•●○◦◆◇■□▪▸▶⏺⎿✦✻✶✳✽·∙*>❯›»─━═┌┐└┘├┤╭╮╰╯╌-]+/u;
const BORDER = /[\s│┃║|▐█]+$/u;
const SENTINEL = /^WORKER_(DONE|BLOCKED|FAILED)(?:\[([^\]\s]{1,64})\])?:\s*(.*)$/u;

/** The line without the frame that a terminal program draws around text. */
export function undecorate(line: string): string {
  return line.replace(DECORATION, '').replace(BORDER, '');
}

/** Full-line sentinels, in the order of the lines. */
export function findSentinels(lines: readonly string[]): readonly Sentinel[] {
  const found: Sentinel[] = [];
  for (const raw of lines) {
    if (!raw.includes('WORKER_')) continue;
    const line = undecorate(raw);
    const match = SENTINEL.exec(line);
    if (match === null) continue;
    const word = match[1]?.toLowerCase() as Sentinel['word'];
    found.push({ word, nonce: match[2] ?? null, summary: (match[3] ?? '').trim(), line: line.trim() });
  }
  return found;
}

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
