import { undecorate } from './sentinels.js';

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

const NEEDLE_LENGTH = 48;
/** A shorter text is found inside anything; it must then fill whole rows. */
const SHORT_LENGTH = 16;

/**
 * How often `text` (or its begin or end, whichever is seen more often) stands in `rows` as a transcript shows a
 * prompt. Only a comparison with an earlier count means anything.
 */
export function countPrompts(rows: readonly string[], text: string): number {
  const needle = plain(text.split('\n')).join('');
  if (needle === '') return 0;
  const shown = plain(rows).filter((row) => row !== '');
  if (needle.length < SHORT_LENGTH) return shown.filter((_, index) => fillsRows(shown, index, needle)).length;
  const whole = shown.join('');
  return Math.max(occurrences(whole, needle.slice(0, NEEDLE_LENGTH)), occurrences(whole, needle.slice(-NEEDLE_LENGTH)));
}

function fillsRows(rows: readonly string[], from: number, needle: string): boolean {
  let text = '';
  for (let index = from; index < rows.length && text.length < needle.length; index++) text += rows[index];
  return text === needle;
}

function plain(rows: readonly string[]): readonly string[] {
  return rows.map((row) => squash(undecorate(row)));
}

function occurrences(whole: string, part: string): number {
  let count = 0;
  for (let at = whole.indexOf(part); at !== -1; at = whole.indexOf(part, at + part.length)) count++;
  return count;
}
