import { stripVTControlCharacters } from 'node:util';

export const GAP = '  ';

/** Columns as wide as their widest cell (colours do not count), two spaces apart; the last one is not padded. */
export function table(rows: readonly (readonly string[])[], indent = ''): string {
  const widths = widthsOf(rows);
  return rows
    .map((row) => {
      const cells = row.map((cell, column) =>
        column === row.length - 1 ? cell : pad(cell, widths[column] ?? 0),
      );
      return `${indent}${cells.join(GAP)}`.trimEnd();
    })
    .join('\n');
}

/** Of its longest line, without an indent. */
export function tableWidth(rows: readonly (readonly string[])[]): number {
  const widths = widthsOf(rows);
  return widths.reduce((sum, one) => sum + one, GAP.length * Math.max(0, widths.length - 1));
}

function widthsOf(rows: readonly (readonly string[])[]): number[] {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, width(cell))));
  return widths;
}

function width(text: string): number {
  return [...stripVTControlCharacters(text)].length;
}

function pad(text: string, to: number): string {
  return text + ' '.repeat(Math.max(0, to - width(text)));
}
