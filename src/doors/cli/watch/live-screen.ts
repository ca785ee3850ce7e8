import type { Terminal } from '../host.js';

/** The screen beside the one that the person works on; what was there before comes back. No cursor, no wrapping. */
const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l';
const LEAVE = '\u001b[?7h\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

export interface LiveScreen {
  /** In place of what was drawn before; at least one line fewer than the screen has. */
  draw(lines: readonly string[]): void;
  close(): void;
}

export function openLiveScreen(terminal: Pick<Terminal, 'out'>): LiveScreen {
  terminal.out(ENTER);
  return {
    // Each line is emptied before it is written: behind a full one the cursor stands on its last letter.
    draw: (lines) =>
      terminal.out(`${HOME}${lines.map((line) => `${CLEAR_LINE}${line}\r\n`).join('')}${CLEAR_BELOW}`),
    close: () => terminal.out(LEAVE),
  };
}
