import type { Composer, Screen, ScreenRules } from '../../agents/contract.js';
import type { WaitingKind } from '../../core/state/states.js';
import { lastRows, readDialog, type DialogReading } from './dialog.js';

/** Escape sequences that `capture-pane -e` writes: SGR, hyperlinks (OSC 8), and the switch to line-drawing glyphs. */
// eslint-disable-next-line no-control-regex -- control bytes are what this is about
const ESCAPE =
  /\u001b\[([0-9;:]*)([@-~])|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[()*+].|[\u000e\u000f]|\u001b./g;
// eslint-disable-next-line no-control-regex -- as above
const STYLED = /[\u001b\u000e]/;
const LINE_DRAWING: Readonly<Record<string, string>> = {
  j: '┘',
  k: '┐',
  l: '┌',
  m: '└',
  n: '┼',
  q: '─',
  t: '├',
  u: '┤',
  v: '┴',
  w: '┬',
  x: '│',
};

interface Style {
  dim: boolean;
  reverse: boolean;
  drawing: boolean;
}

/**
 * Rows of a pane from the lines of `capture-pane -p -e`. Styles run on from one line into the next, as tmux writes
 * them. Rows end at their last visible character.
 */
export function parseScreen(lines: readonly string[], cursor: Screen['cursor']): Screen {
  const style: Style = { dim: false, reverse: false, drawing: false };
  const rows: string[] = [];
  const solid: string[] = [];
  for (const line of lines) {
    const row =
      STYLED.test(line) || style.dim || style.drawing ? parseRow(line, style) : { text: line, solid: line };
    const text = row.text.trimEnd();
    rows.push(text);
    solid.push(row.solid.slice(0, text.length));
  }
  return { rows, solid, cursor };
}

function parseRow(line: string, style: Style): { text: string; solid: string } {
  let text = '';
  let solid = '';
  /** A lone reversed character: the cursor drawn on what may turn out to be the first letter of a dim suggestion. */
  let cursorCell: number | null = null;
  const take = (piece: string) => {
    if (piece === '') return;
    const shown = style.drawing
      ? piece.replace(/[jklmnqtuvwx]/g, (glyph) => LINE_DRAWING[glyph] ?? glyph)
      : piece;
    if (style.dim && cursorCell !== null)
      solid = `${solid.slice(0, cursorCell)}${' '.repeat(solid.length - cursorCell)}`;
    cursorCell = style.reverse && !style.dim && [...shown].length === 1 ? solid.length : null;
    text += shown;
    solid += style.dim ? ' '.repeat(shown.length) : shown;
  };
  let from = 0;
  for (const match of line.matchAll(ESCAPE)) {
    take(line.slice(from, match.index));
    from = match.index + match[0].length;
    if (match[0] === '\u000e') style.drawing = true;
    else if (match[0] === '\u000f') style.drawing = false;
    else if (match[2] === 'm') applyGraphics(match[1] ?? '', style);
  }
  take(line.slice(from));
  return { text, solid };
}

function applyGraphics(parameters: string, style: Style): void {
  const codes = parameters === '' ? ['0'] : parameters.split(';');
  for (let index = 0; index < codes.length; index++) {
    const code = codes[index];
    if (code === '' || code === '0') style.dim = style.reverse = false;
    else if (code === '2') style.dim = true;
    else if (code === '22') style.dim = false;
    else if (code === '7') style.reverse = true;
    else if (code === '27') style.reverse = false;
    // The 2 of `38;2;r;g;b` is a colour, not dim.
    else if (code === '38' || code === '48' || code === '58') index += codes[index + 1] === '2' ? 4 : 2;
  }
}

/** What a screen says by the agent's rules. */
export interface Reading {
  readonly state: 'idle' | 'working' | 'waiting' | 'error' | 'unknown';
  readonly kind: WaitingKind | null;
  /** For waiting and error: the rows that say so; '' otherwise. */
  readonly text: string;
  /** For error: what stands around that, which tells one failure from the next; else as `text`. */
  readonly shown: string;
  /** For waiting: the dialog, where the rules can read it. */
  readonly dialog: DialogReading | null;
  readonly composer: Composer | null;
}

export function readScreen(rules: ScreenRules, screen: Screen): Reading {
  const tail = lastRows(screen.rows, rules.tailRows).join('\n');
  const rule = rules.states.find(({ when }) => when.test(tail));
  const state = rule?.means ?? 'unknown';
  const dialogRules = state === 'waiting' ? rule?.dialog : undefined;
  const dialog = dialogRules === undefined ? null : readDialog(dialogRules, screen, rules.tailRows);
  const shown = dialog?.text ?? (state === 'waiting' || state === 'error' ? tail.trim() : '');
  const said = state === 'error' ? rule?.when.exec(tail)?.groups?.['text']?.trim() : undefined;
  return {
    state,
    kind: state === 'waiting' ? (rule?.kind ?? 'dialog') : state === 'error' ? (rule?.kind ?? null) : null,
    text: said ?? shown,
    shown,
    dialog,
    composer: rules.composer(screen),
  };
}
