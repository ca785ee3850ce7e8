/** How the composer stands to the text that we pasted into it. */
export type ComposerRelation = 'empty' | 'ours' | 'mixed' | 'other';

/**
 * Compares without white space: composers wrap, pad and expand tabs as they like. `drawn` is what the composer showed
 * first after our paste where that is not our text itself, e.g. `[Pasted text #1 +300 lines]`.
 */
export function relateComposer(shown: string, typed: string, drawn: string | null): ComposerRelation {
  const seen = squash(shown).replace(/^…|…$/g, '');
  if (seen === '') return 'empty';
  const ours = squash(typed);
  // A part of it: long texts are clipped or collapsed to a few rows.
  if (ours.includes(seen)) return 'ours';
  if (seen.includes(ours)) return 'mixed';
  if (drawn === null) return 'other';
  const mark = squash(drawn);
  if (seen === mark || (isPasteMark(seen) && isPasteMark(mark))) return 'ours';
  return seen.includes(mark) ? 'mixed' : 'other';
}

/** A composer's stand-in for a large paste; its numbers may still change while the paste is taken in. */
function isPasteMark(squashed: string): boolean {
  return /^\[[^\]]*(paste|chars|lines)[^\]]*\]$/i.test(squashed);
}

/** True when all of it is shown, not a part or a stand-in. */
export function isShownWhole(shown: string, typed: string): boolean {
  return squash(shown) === squash(typed);
}

/** White space and box drawing carry no text. */
export function squash(text: string): string {
  return text.replace(/[\s\u200b│┃║]+/gu, '');
}
