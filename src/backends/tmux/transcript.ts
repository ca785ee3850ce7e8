import { squash } from './composer-text.js';
import { undecorate } from '../../core/sentinels.js';

const NEEDLE_LENGTH = 48;
/** A shorter text is found inside anything; it must then fill whole rows. */
const SHORT_LENGTH = 16;
/** So many rows are enough to find again where the transcript ended. */
const ANCHOR_ROWS = 4;

/**
 * Whether `text` (its begin or its end) stands in what was added to the transcript between two screens of which the
 * second one does not show it in the composer. Only visible rows count: frames of the composer may lie in the
 * scrollback. Where nothing tells old rows from new ones, the text must stand there more often than before.
 */
export function promptAppeared(text: string, before: readonly string[], after: readonly string[]): boolean {
  const added = addedRows(before, after);
  return added === null
    ? countPrompts(after, text) > countPrompts(before, text)
    : countPrompts(added, text) > 0;
}

/** Rows between the old end of the transcript and the box below it, which is the same on both screens; null: cannot tell. */
function addedRows(before: readonly string[], after: readonly string[]): readonly string[] | null {
  const [old, now] = [withoutBlankEnd(before), withoutBlankEnd(after)];
  let same = 0;
  while (same < old.length && same < now.length && old.at(-1 - same) === now.at(-1 - same)) same++;
  const above = old.slice(0, old.length - same);
  const rows = now.slice(0, now.length - same);
  if (above.length === 0) return rows;
  const anchor = above.slice(-ANCHOR_ROWS);
  for (let end = rows.length; end >= anchor.length; end--) {
    if (anchor.every((row, index) => row === rows[end - anchor.length + index])) return rows.slice(end);
  }
  return null;
}

function withoutBlankEnd(rows: readonly string[]): readonly string[] {
  return rows.slice(0, rows.findLastIndex((row) => row !== '') + 1);
}

/** How often the text (its begin or its end) stands in these rows. */
export function countPrompts(rows: readonly string[], text: string): number {
  const needle = plain(text.split('\n')).join('');
  if (needle === '') return 0;
  const shown = plain(rows).filter((row) => row !== '');
  if (needle.length < SHORT_LENGTH) return shown.filter((_, index) => fillsRows(shown, index, needle)).length;
  const whole = shown.join('');
  return Math.max(
    occurrences(whole, needle.slice(0, NEEDLE_LENGTH)),
    occurrences(whole, needle.slice(-NEEDLE_LENGTH)),
  );
}

function plain(rows: readonly string[]): readonly string[] {
  return rows.map((row) => squash(undecorate(row)));
}

function fillsRows(rows: readonly string[], from: number, needle: string): boolean {
  let text = '';
  for (let index = from; index < rows.length && text.length < needle.length; index++) text += rows[index];
  return text === needle;
}

function occurrences(whole: string, part: string): number {
  let count = 0;
  for (let at = whole.indexOf(part); at !== -1; at = whole.indexOf(part, at + part.length)) count++;
  return count;
}
