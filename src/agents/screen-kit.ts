import type { Composer, DialogChoice, Screen } from './contract.js';

export interface LinePromptOptions {
  /** Matches the begin of the input box's first row, up to where the typed text begins: `/^[│\s]*[>❯›] ?/`. */
  readonly prompt: RegExp;
  /** Matches the first row below the input box: a rule, a border, the footer. */
  readonly end: RegExp;
  /** Matches the row above the input box, where a prompt sign alone does not tell the box from the transcript. */
  readonly above?: RegExp;
  /** Removed from the begin and end of every row of the box: borders. */
  readonly border?: RegExp;
}

/**
 * A composer that is a prompt sign with text after it, its further rows below, and a row that ends the box. The last
 * such box on the screen counts. Dim text in it is a suggestion, not text.
 */
export function linePromptComposer(options: LinePromptOptions): (screen: Screen) => Composer | null {
  return (screen) => {
    const end = screen.rows.findLastIndex((row, index) => options.end.test(row) && index > 0);
    for (let top = end - 1; top >= 0; top--) {
      const row = screen.rows[top] ?? '';
      const sign = options.prompt.exec(row);
      const framed = options.above === undefined || options.above.test(screen.rows[top - 1] ?? '');
      if (sign !== null && framed)
        return { text: boxText(screen.solid.slice(top, end), sign[0].length, options.border) };
      if (options.end.test(row)) return null;
    }
    return null;
  };
}

function boxText(rows: readonly string[], promptWidth: number, border: RegExp | undefined): string {
  const texts = rows.map((row, index) => {
    const text = index === 0 ? ' '.repeat(promptWidth) + row.slice(promptWidth) : row;
    return border === undefined ? text : text.replace(border, '');
  });
  return texts
    .map((text) => text.trim())
    .join('\n')
    .trim();
}

/**
 * The numbered list that ends the screen: numbers n … 1 from below, whatever stands between them. `row` matches one of its
 * rows: the sign of the selected one, the number, the label.
 */
export function numberedChoices({ rows }: Screen, row: RegExp): readonly DialogChoice[] {
  const choices: DialogChoice[] = [];
  for (const text of rows.toReversed()) {
    const [match, sign, digits, label = ''] = row.exec(text) ?? [];
    if (match === undefined) continue;
    const number = Number(digits);
    if (choices.length > 0 && number !== (choices[0]?.number ?? 0) - 1) continue;
    choices.unshift({ number, label: label.trim(), selected: sign !== undefined });
    if (number === 1) return choices;
  }
  return [];
}
