import { cellWidth, graphemes, printable, textWidth } from './width.js';

/** A paste that is shown as a mark and kept whole. */
interface Paste {
  readonly text: string;
  readonly mark: string;
}

type Cell = string | Paste;

const COLLAPSE_LINES = 5;
const COLLAPSE_CHARACTERS = 2_000;

export interface DrawnEditor {
  readonly rows: readonly string[];
  readonly cursor: { readonly row: number; readonly column: number };
}

/** The input box: text as cells (characters or collapsed pastes) with a cursor. */
export class Editor {
  private cells: Cell[] = [];
  private position = 0;
  private pastes = 0;

  get isEmpty(): boolean {
    return this.cells.length === 0;
  }

  /** What will be submitted: exactly what was typed and pasted. */
  get text(): string {
    return this.cells.map((cell) => (typeof cell === 'string' ? cell : cell.text)).join('');
  }

  /** What is shown of it: collapsed pastes as their marks. */
  get shown(): string {
    return this.cells.map((cell) => (typeof cell === 'string' ? cell : cell.mark)).join('');
  }

  insert(text: string): void {
    const cells = graphemes(text);
    this.cells.splice(this.position, 0, ...cells);
    this.position += cells.length;
  }

  paste(text: string): void {
    const lines = text.split('\n').length;
    if (lines <= COLLAPSE_LINES && text.length <= COLLAPSE_CHARACTERS) return this.insert(text);
    this.pastes++;
    const extent = lines > 1 ? `+${lines - 1} lines` : `${text.length} characters`;
    this.cells.splice(this.position, 0, { text, mark: `[Pasted text #${this.pastes} ${extent}]` });
    this.position++;
  }

  backspace(): void {
    if (this.position === 0) return;
    this.position--;
    this.delete();
  }

  delete(): void {
    this.cells.splice(this.position, 1);
  }

  move(by: number): void {
    this.position = Math.max(0, Math.min(this.cells.length, this.position + by));
  }

  home(): void {
    while (this.position > 0 && !isLineBreak(this.cells[this.position - 1])) this.position--;
  }

  end(): void {
    while (this.position < this.cells.length && !isLineBreak(this.cells[this.position])) this.position++;
  }

  killToStart(): void {
    const end = this.position;
    this.home();
    this.cells.splice(this.position, end - this.position);
  }

  killToEnd(): void {
    const start = this.position;
    this.end();
    this.cells.splice(start, this.position - start);
    this.position = start;
  }

  killWord(): void {
    const isSpace = (cell: Cell | undefined) => typeof cell === 'string' && /\s/.test(cell);
    let start = this.position;
    while (start > 0 && isSpace(this.cells[start - 1])) start--;
    while (start > 0 && !isSpace(this.cells[start - 1])) start--;
    this.cells.splice(start, this.position - start);
    this.position = start;
  }

  replace(text: string): void {
    this.clear();
    this.insert(text);
  }

  clear(): void {
    this.cells = [];
    this.position = 0;
  }

  /** Rows of at most `width` cells, at most `maxRows` of them around the cursor. Row 0 begins with `> `. */
  draw(width: number, maxRows: number): DrawnEditor {
    const rows = [''];
    let column = 0;
    let cursor = { row: 0, column: 0 };
    const put = (piece: string) => {
      const size = cellWidth(piece);
      if (column + size > width - 2) {
        rows.push('');
        column = 0;
      }
      rows[rows.length - 1] += piece;
      column += size;
    };
    this.cells.forEach((cell, index) => {
      if (index === this.position) cursor = { row: rows.length - 1, column };
      if (isLineBreak(cell)) {
        rows.push('');
        column = 0;
      } else graphemes(printable(typeof cell === 'string' ? cell : cell.mark)).forEach(put);
    });
    if (this.position === this.cells.length)
      cursor = { row: rows.length - 1, column: textWidth(rows.at(-1) ?? '') };
    const first = Math.max(0, Math.min(cursor.row - maxRows + 1, rows.length - maxRows));
    const drawn = rows
      .slice(first, first + maxRows)
      .map((row, index) => (index === 0 ? `> ${row}` : `  ${row}`));
    return { rows: drawn, cursor: { row: cursor.row - first, column: cursor.column + 2 } };
  }
}

function isLineBreak(cell: Cell | undefined): boolean {
  return cell === '\n' || cell === '\r\n';
}
