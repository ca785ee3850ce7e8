import { stripVTControlCharacters } from 'node:util';

/** Columns as wide as their widest cell (colours do not count), two spaces apart; the last one is not padded. */
export function table(rows: readonly (readonly string[])[], indent = ''): string {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, width(cell))));
  return rows
    .map((row) => {
      const cells = row.map((cell, column) =>
        column === row.length - 1 ? cell : pad(cell, widths[column] ?? 0),
      );
      return `${indent}${cells.join('  ')}`.trimEnd();
    })
    .join('\n');
}

function width(text: string): number {
  return [...stripVTControlCharacters(text)].length;
}

function pad(text: string, to: number): string {
  return text + ' '.repeat(Math.max(0, to - width(text)));
}
