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

/** A person who begins to type in that very moment has typed less of ours than this. */
const SURE_LETTERS = 8;

/**
 * Whether what an empty composer shows first after our paste can be how it draws that: a stand-in, or our letters with
 * something between them that it draws in its own way. Anything else may be a person's, and gets no key.
 */
export function mayBeDrawn(shown: string, typed: string): boolean {
  if (isPasteMark(squash(shown))) return true;
  const [seen, ours] = [letters(shown), letters(typed)];
  return ours.includes(seen) && seen.length >= Math.min(ours.length, SURE_LETTERS);
}

function letters(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** True when all of it is shown, not a part or a stand-in. */
export function isShownWhole(shown: string, typed: string): boolean {
  return squash(shown) === squash(typed);
}

/** A clipped text is known by so many characters, and only one that is long enough to be clipped. */
const CLIPPED_FROM = 1_000;
const CLIPPED_SHOWS = 200;

/**
 * Whether the composer holds this text and nothing else, for somebody who did not see it being typed: all of it, a long
 * part of a text that no composer shows whole, or a stand-in that counts its lines or characters.
 */
export function holdsExactly(shown: string, text: string): boolean {
  const seen = squash(shown).replace(/^…|…$/g, '');
  const ours = squash(text);
  if (seen === '' || ours === '') return false;
  if (seen === ours) return true;
  if (isPasteMark(seen)) return standsFor(shown, text);
  return ours.length >= CLIPPED_FROM && seen.length >= CLIPPED_SHOWS && ours.includes(seen);
}

/** Whether this is an agent's stand-in for a pasted text that counts as many lines or characters as this one has. */
export function standsFor(shown: string, text: string): boolean {
  return isPasteMark(squash(shown)) && countsOf(text).some((count) => numbersIn(shown).includes(count));
}

function countsOf(text: string): readonly number[] {
  const breaks = text.split('\n').length - 1;
  // One line more or less says nothing; "0 lines" says nothing either.
  const lines = breaks > 0 ? [breaks, breaks + 1] : [];
  return [...lines, text.length, [...text].length, new TextEncoder().encode(text).length];
}

function numbersIn(text: string): readonly number[] {
  return [...text.matchAll(/\d+/g)].map(([digits]) => Number(digits));
}

/** White space and box drawing carry no text. */
export function squash(text: string): string {
  return text.replace(/[\s\u200b│┃║]+/gu, '');
}
