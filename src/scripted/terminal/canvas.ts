import { textWidth } from './width.js';

export interface Region {
  /** None may be wider than the terminal; escape sequences in them take no cells. */
  readonly rows: readonly string[];
  /** null hides the cursor. */
  readonly cursor: { readonly row: number; readonly column: number } | null;
}

interface Output {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): boolean;
}

const KEPT_LINES = 500;

/**
 * The main screen, as two parts: lines that were said (they scroll away for good) and below them one region that is
 * redrawn in place. Moves relatively, so the region may stand anywhere. Never uses the alternate screen, and erases
 * row by row: erasing "to the end of the screen" would push what is there into the history once more.
 */
export class Canvas {
  private readonly output: Output;
  private region: Region = { rows: [], cursor: null };
  private cursorRow = 0;
  private said: string[] = [];

  constructor(output: Output) {
    this.output = output;
  }

  get columns(): number {
    return Math.max(20, this.output.columns ?? 80);
  }

  get height(): number {
    return Math.max(6, this.output.rows ?? 24);
  }

  /** Bracketed paste on; the region starts at the bottom row. */
  open(): void {
    this.output.write(`\u001b[?2004h\u001b[${this.height};1H`);
  }

  /** Leaves the said lines, takes the region away. */
  close(): void {
    this.draw({ rows: [], cursor: null }, []);
    this.output.write('\u001b[?25h\u001b[?2004l');
  }

  draw(region: Region, lines: readonly string[]): void {
    this.said = [...this.said, ...lines].slice(-KEPT_LINES);
    this.output.write(
      this.eraseRegion() + lines.map((line) => `${line}\r\n`).join('') + this.drawRegion(region),
    );
  }

  /** After a resize nothing is where it was: the visible screen is drawn anew from the last lines said. */
  repaint(region: Region): void {
    const room = this.height - region.rows.length;
    const shown: string[] = [];
    let used = 0;
    for (const line of this.said.toReversed()) {
      used += Math.max(1, Math.ceil(textWidth(stripStyles(line)) / this.columns));
      if (used > room) break;
      shown.unshift(line);
    }
    const erase = Array.from({ length: this.height }, (_, row) => `\u001b[${row + 1};1H\u001b[2K`).join('');
    const start = `\u001b[${Math.max(1, this.height - Math.min(used, room) - region.rows.length + 1)};1H`;
    this.output.write(
      `\u001b[?25l${erase}${start}${shown.map((line) => `${line}\r\n`).join('')}${this.drawRegion(region)}`,
    );
  }

  private eraseRegion(): string {
    const up = this.cursorRow > 0 ? `\u001b[${this.cursorRow}A` : '';
    const height = this.region.rows.length;
    if (height === 0) return '\u001b[?25l\r';
    const back = height > 1 ? `\u001b[${height - 1}A` : '';
    return `\u001b[?25l\r${up}${Array.from({ length: height }, () => '\u001b[2K').join('\u001b[1B')}${back}`;
  }

  private drawRegion(region: Region): string {
    this.region = region;
    const height = region.rows.length;
    this.cursorRow = region.cursor?.row ?? Math.max(0, height - 1);
    const up = height - 1 - this.cursorRow;
    const move = `${up > 0 ? `\u001b[${up}A` : ''}\r${(region.cursor?.column ?? 0) > 0 ? `\u001b[${region.cursor?.column}C` : ''}`;
    return region.rows.join('\r\n') + move + (region.cursor === null ? '' : '\u001b[?25h');
  }
}

function stripStyles(line: string): string {
  // oxlint-disable-next-line no-control-regex
  return line.replace(/\u001b\[[0-9;]*m/g, '');
}
