const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** User-perceived characters, in order; joined they are the text again. */
export function graphemes(text: string): string[] {
  return Array.from(segmenter.segment(text), (part) => part.segment);
}

/** East Asian wide and full-width blocks and emoji; everything else is one cell. */
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|^\p{Emoji_Presentation}/u;
const ZERO = /^[\p{Mn}\p{Me}\p{Cf}]$/u;

/** Terminal cells that one grapheme takes. */
export function cellWidth(grapheme: string): number {
  const first = String.fromCodePoint(grapheme.codePointAt(0) ?? 32);
  if (WIDE.test(first)) return 2;
  return ZERO.test(first) ? 0 : 1;
}

export function textWidth(text: string): number {
  return graphemes(text).reduce((sum, grapheme) => sum + cellWidth(grapheme), 0);
}

/** As much of the text as fits into `width` cells, with `…` where something was cut. */
export function truncate(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let used = 0;
  let result = '';
  for (const grapheme of graphemes(text)) {
    used += cellWidth(grapheme);
    if (used > width - 1) break;
    result += grapheme;
  }
  return `${result}…`;
}

/** Control characters would move the cursor; a visible stand-in keeps the screen whole. */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/\t/g, '    ').replace(/[\u0000-\u001f\u007f-\u009f]/g, '\ufffd');
}
