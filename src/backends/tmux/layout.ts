/** Size of a window in cells, without the status line of the terminal. */
export interface WindowSize {
  readonly columns: number;
  readonly rows: number;
}

/** What a window holds at most: a lead with four workers, or five workers. */
export const MAX_PANES = 5;
export const MIN_PANE: WindowSize = { columns: 80, rows: 20 };
const DEFAULT_SIZE: WindowSize = { columns: 240, rows: 70 };

/** The window that suits a terminal; one that is too small gets a window it shows a part of, so that no agent is. */
export function windowSizeFor(terminal: WindowSize | null): WindowSize {
  if (terminal === null) return DEFAULT_SIZE;
  const statusLine = 1;
  return {
    columns: Math.max(terminal.columns, MIN_PANE.columns),
    rows: Math.max(terminal.rows - statusLine, MIN_PANE.rows + TITLE),
  };
}

/** How many panes such a window takes with none below the minimum; at least one. */
export function windowCapacity(size: WindowSize, withLead: boolean): number {
  for (let count = MAX_PANES; count > 1; count--) {
    if (minimumRows(rowsOf(count, size, withLead)) <= size.rows) return count;
  }
  return 1;
}

/**
 * A layout for `select-layout`: a lead alone in the top row, the others two in a row where the width allows it.
 * tmux gives its panes to the cells in their order in the window; the ids in the string do not matter to it.
 */
export function layoutString(
  count: number,
  size: WindowSize,
  withLead: boolean,
  /** The size that says how many stand in a row. */
  shape: WindowSize = size,
): string {
  const rows = rowsOf(count, shape, withLead);
  const heights = share(size.rows - (rows.length - 1) - TITLE, rows.length);
  heights[0] = (heights[0] ?? 0) + TITLE;
  let pane = 0;
  let y = 0;
  const cells = rows.map((inRow, index) => {
    const height = heights[index] ?? 0;
    const row = rowCell(inRow, { x: 0, y, width: size.columns, height }, () => pane++);
    y += height + 1;
    return row;
  });
  const body = cells.length === 1 ? (cells[0] ?? '') : `${size.columns}x${size.rows},0,0[${cells.join(',')}]`;
  return `${layoutChecksum(body)},${body}`;
}

/** Each pane of that layout one line and one column larger: a window that shrinks from there comes to exactly its size. */
export function roomierSize(count: number, size: WindowSize, withLead: boolean): WindowSize {
  const rows = rowsOf(count, size, withLead);
  return { columns: size.columns + Math.max(...rows), rows: size.rows + rows.length };
}

/** tmux refuses a layout without it: a rotating 16-bit sum over the body. */
export function layoutChecksum(body: string): string {
  let sum = 0;
  for (const byte of Buffer.from(body)) {
    sum = ((sum >> 1) + ((sum & 1) << 15) + byte) & 0xffff;
  }
  return sum.toString(16).padStart(4, '0');
}

/** The border line with the label above the topmost panes is taken from them; others have the line between anyway. */
const TITLE = 1;

interface Cell {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

function rowCell(count: number, cell: Cell, nextPane: () => number): string {
  const at = (part: Cell) => `${part.width}x${part.height},${part.x},${part.y}`;
  if (count === 1) return `${at(cell)},${nextPane()}`;
  let x = cell.x;
  const parts = share(cell.width - (count - 1), count).map((width) => {
    const part = `${at({ ...cell, x, width })},${nextPane()}`;
    x += width + 1;
    return part;
  });
  return `${at(cell)}{${parts.join(',')}}`;
}

/** Panes per row, top to bottom. */
function rowsOf(count: number, size: WindowSize, withLead: boolean): number[] {
  const perRow = size.columns >= 2 * MIN_PANE.columns + 1 ? 2 : 1;
  const rows: number[] = withLead ? [1] : [];
  for (let left = count - rows.length; left > 0; left -= perRow) rows.push(Math.min(left, perRow));
  return rows;
}

function minimumRows(rows: readonly number[]): number {
  return rows.length * MIN_PANE.rows + (rows.length - 1) + TITLE;
}

/** `total` in `count` parts that differ by one at most, the larger first. */
function share(total: number, count: number): number[] {
  const base = Math.floor(total / count);
  return Array.from({ length: count }, (_, index) => base + (index < total % count ? 1 : 0));
}
