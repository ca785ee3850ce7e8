const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|^\p{Emoji_Presentation}/u;
const PLAIN = { fg: null, bg: null, bold: false, dim: false, italic: false, underline: false };
/** Colours (CSI … m) are read; other sequences and control bytes are dropped. */
// oxlint-disable-next-line no-control-regex
const SEQUENCE =
  /\u001b\[([0-9;:]*)m|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b\[[0-?]*[ -/]*[@-~]|\u001b.|[\u0000-\u001f\u007f]/gu;

/** The 16 colours by their numbers, to be drawn in a dark window. */
const PALETTE = [
  ...['#161b22', '#ff7b72', '#3fb950', '#d29922', '#58a6ff', '#bc8cff', '#39c5cf', '#b1bac4'],
  ...['#6e7681', '#ffa198', '#56d364', '#e3b341', '#79c0ff', '#d2a8ff', '#56d4dd', '#ffffff'],
];

/**
 * What `tmux capture-pane -e -p` printed, as rows of runs: text of one look, the column it starts in, how many cells it
 * takes. A look stands until it is changed, over line ends too. Colours are `#rrggbb`, or null for the terminal's own.
 */
export function parseScreen(text) {
  let style = PLAIN;
  return text.split('\n').map((line) => {
    const runs = [];
    let column = 0;
    const add = (part) => {
      if (part === '') return;
      const width = cellsOf(part);
      runs.push({ text: part, column, width, style: shown(style) });
      column += width;
    };
    let from = 0;
    for (const match of line.matchAll(SEQUENCE)) {
      add(line.slice(from, match.index));
      from = match.index + match[0].length;
      if (match[1] !== undefined) style = restyled(style, match[1]);
    }
    add(line.slice(from));
    return runs;
  });
}

/** User-perceived characters with the cells that each takes. */
export function cells(text) {
  return Array.from(segmenter.segment(text), ({ segment }) => ({
    text: segment,
    width: WIDE.test(segment) ? 2 : 1,
  }));
}

const cellsOf = (text) => cells(text).reduce((sum, { width }) => sum + width, 0);

/** Reverse is told by the colours. */
function shown({ inverse, fg, bg, ...rest }) {
  return inverse ? { ...rest, fg: bg ?? 'background', bg: fg ?? 'foreground' } : { ...rest, fg, bg };
}

function restyled(before, parameters) {
  const codes = parameters.replaceAll(':', ';').split(';').map(Number);
  let style = before;
  while (codes.length > 0) {
    const code = codes.shift();
    if (code === 38) style = { ...style, fg: extended(codes) };
    else if (code === 48) style = { ...style, bg: extended(codes) };
    else style = code === 0 ? PLAIN : { ...style, ...changed(code) };
  }
  return style;
}

function changed(code) {
  const flags = {
    ...{
      1: { bold: true },
      2: { dim: true },
      3: { italic: true },
      4: { underline: true },
      7: { inverse: true },
    },
    ...{
      22: { bold: false, dim: false },
      23: { italic: false },
      24: { underline: false },
      27: { inverse: false },
    },
    ...{ 39: { fg: null }, 49: { bg: null } },
  };
  if (code in flags) return flags[code];
  const [tens, ones] = [Math.floor(code / 10), code % 10];
  if (ones > 7) return {};
  return (
    {
      3: { fg: PALETTE[ones] },
      4: { bg: PALETTE[ones] },
      9: { fg: PALETTE[ones + 8] },
      10: { bg: PALETTE[ones + 8] },
    }[tens] ?? {}
  );
}

/** What follows 38 or 48; takes it from `codes`. */
function extended(codes) {
  if (codes.shift() === 2) return hex(codes.splice(0, 3));
  const index = codes.shift() ?? 0;
  if (index < 16) return PALETTE[index] ?? null;
  if (index > 231) return hex([0, 0, 0].map(() => 8 + (index - 232) * 10));
  return hex([36, 6, 1].map((unit) => [0, 95, 135, 175, 215, 255][Math.floor((index - 16) / unit) % 6]));
}

const hex = (channels) => `#${channels.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
