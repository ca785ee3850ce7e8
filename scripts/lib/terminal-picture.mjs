import { cells, parseScreen } from './terminal-screen.mjs';

const CELL = { width: 8, height: 17 };
const MIDDLE = CELL.height / 2;
const PAD = 16;
const TITLE = 46;
const COLOURS = { foreground: '#e6edf3', background: '#0d1117' };
const MONOSPACE = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace";
const SANS = "-apple-system,'Segoe UI','Noto Sans',Helvetica,Arial,'DejaVu Sans',sans-serif";
/** Every monospace font has these one cell wide; others may come from another font and are placed one by one. */
const SURE = /^[\u0020-\u007e\u00a0-\u00ff\u2013-\u2026]$/;
/** Which ways from the middle of its cell a line goes: left, right, up, down. */
const LINES = {
  ...{
    '─': '1100',
    '│': '0011',
    '┌': '0101',
    '┐': '1001',
    '└': '0110',
    '┘': '1010',
    '╭': '0101',
    '╮': '1001',
  },
  ...{
    '╰': '0110',
    '╯': '1010',
    '├': '0111',
    '┤': '1011',
    '┬': '1101',
    '┴': '1110',
    '┼': '1111',
    '━': '1100',
    '┃': '0011',
    '⎿': '0110',
  },
};

/**
 * Screens of a terminal as one picture that plays them in turn, in a window with a dark background: SVG without
 * scripts, fonts or anything else from outside. `frames`: `screen` as tmux prints it with colours, `caption` for the
 * title bar, `seconds` it is shown. Who wants no motion, or has a viewer without animation, sees frame `still`.
 */
export function renderPicture({ frames, columns, rows, still, description }) {
  const [width, height] = [columns * CELL.width + 2 * PAD, rows * CELL.height + TITLE + 2 * PAD];
  const styles = new Map();
  const drawn = new Map();
  const shown = frames.map((frame, index) => {
    const lines = parseScreen(frame.screen)
      .slice(0, rows)
      .flatMap((runs, row) => {
        const picture = drawRow(runs, styles);
        if (picture === '') return [];
        if (!drawn.has(picture)) drawn.set(picture, `r${drawn.size}`);
        return [`<use href="#${drawn.get(picture)}" y="${row * CELL.height}"/>`];
      });
    const dots = frames.map(
      (_, at) =>
        `<circle cx="${width - PAD - (frames.length - at) * 14}" cy="${TITLE / 2}" r="4" class="${at === index ? 'on' : 'off'}"/>`,
    );
    const caption = `<text x="${width / 2}" y="${TITLE / 2 + 7}" class="caption">${escaped(frame.caption)}</text>`;
    return `<g class="frame f${index}">${caption}${dots.join('')}<svg x="${PAD}" y="${TITLE + PAD}" overflow="visible">${lines.join('')}</svg></g>`;
  });
  const lights = ['#ff5f57', '#febc2e', '#28c840'].map(
    (colour, at) => `<circle cx="${PAD + 8 + at * 22}" cy="${TITLE / 2}" r="7" fill="${colour}"/>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escaped(description)}</title>`,
    `<style>${css(frames, still, styles)}</style>`,
    `<defs>${[...drawn].map(([picture, id]) => `<g id="${id}">${picture}</g>`).join('\n')}</defs>`,
    `<rect width="${width}" height="${height}" rx="10" fill="${COLOURS.background}"/>`,
    `<path d="M0 ${TITLE}V10A10 10 0 0 1 10 0H${width - 10}A10 10 0 0 1 ${width} 10V${TITLE}Z" fill="#21262d"/>`,
    lights.join(''),
    ...shown,
    '</svg>\n',
  ].join('\n');
}

function css(frames, still, styles) {
  const total = frames.reduce((sum, { seconds }) => sum + seconds, 0);
  let from = 0;
  const plays = frames.map(({ seconds }, index) => {
    const [begin, end] = [from, (from += seconds)].map((at) => `${Number(((at / total) * 100).toFixed(3))}%`);
    const hidden = 'visibility:hidden';
    return `@keyframes p${index}{0%{${index === 0 ? '' : hidden}}${begin}{visibility:visible}${end}{${end === '100%' ? '' : hidden}}}.f${index}{animation-name:p${index}}`;
  });
  return [
    `text{font:13.3px ${MONOSPACE};fill:${COLOURS.foreground}}`,
    `.caption{font:600 21px ${SANS};text-anchor:middle}.on{fill:${COLOURS.foreground}}.off{fill:#484f58}.line{stroke-width:1.3;fill:none}`,
    `.frame{visibility:hidden;animation:${total}s step-end infinite}.f${still}{visibility:visible}`,
    ...plays,
    '@media(prefers-reduced-motion:reduce){.frame{animation:none}}',
    ...[...styles].map(([declarations, name]) => `.${name}{${declarations}}`),
  ].join('\n');
}

function drawRow(runs, styles) {
  return runs.map((run) => drawRun(run, styles)).join('');
}

function drawRun({ text, column, width, style }, styles) {
  const [fg, bg] = [style.fg ?? 'foreground', style.bg].map((colour) => COLOURS[colour] ?? colour);
  const classOf = (declarations) => {
    if (declarations === '') return '';
    if (!styles.has(declarations)) styles.set(declarations, `s${styles.size}`);
    return styles.get(declarations);
  };
  const faint = style.dim ? 'opacity:.6;' : '';
  const look = [
    ...(style.fg === null ? [] : [`fill:${fg};`]),
    faint,
    ...(style.bold ? ['font-weight:700;'] : []),
    ...(style.italic ? ['font-style:italic;'] : []),
    ...(style.underline ? ['text-decoration:underline;'] : []),
  ].join('');
  const { words, line } = split(text, column);
  return [
    bg === null
      ? ''
      : `<rect x="${column * CELL.width}" width="${width * CELL.width}" height="${CELL.height}" fill="${bg}"/>`,
    ...words.map((word) => drawWord(word, classOf(look))),
    line === '' ? '' : `<path class="line ${classOf(`stroke:${fg};${faint}`)}" d="${line}"/>`,
  ].join('');
}

/** What is drawn as text, each part where it begins, and the path of what is drawn as lines, which fonts leave gaps in. */
function split(text, column) {
  const words = [];
  const across = [];
  let along = '';
  let at = column;
  let open = null;
  for (const { text: character, width } of cells(text)) {
    const ways = LINES[character];
    const sure = ways === undefined && SURE.test(character);
    if (ways !== undefined) {
      addAcross(across, ways, at * CELL.width);
      along += pathAlong(ways, at * CELL.width);
    } else if (sure && open !== null) open.text += character;
    else words.push({ text: character, column: at });
    open = sure ? words.at(-1) : null;
    at += width;
  }
  const line = across.map(([from, to]) => `M${from} ${MIDDLE}H${to}`).join('') + along;
  return { words: words.flatMap(withoutGaps), line };
}

/** A line that goes on is one stroke. */
function addAcross(strokes, [left, right], x) {
  if (left + right === '00') return;
  const [from, to] = [
    left === '1' ? x : x + CELL.width / 2,
    right === '1' ? x + CELL.width : x + CELL.width / 2,
  ];
  const last = strokes.at(-1);
  if (last?.[1] === from) last[1] = to;
  else strokes.push([from, to]);
}

function pathAlong([, , up, down], x) {
  if (up + down === '00') return '';
  return `M${x + CELL.width / 2} ${up === '1' ? 0 : MIDDLE}V${down === '1' ? CELL.height : MIDDLE}`;
}

/** Some viewers draw two spaces as one. */
function withoutGaps({ text, column }) {
  return Array.from(text.matchAll(/\S+(?: \S+)*/g), (match) => ({
    text: match[0],
    column: column + match.index,
  }));
}

/** With its length said, so that whatever font it gets, the next word stands where it should. */
function drawWord({ text, column }, name) {
  const length = text.length > 1 && SURE.test(text[0]) ? ` textLength="${text.length * CELL.width}"` : '';
  const look = name === '' ? '' : ` class="${name}"`;
  return `<text x="${column * CELL.width}" y="13"${length}${look}>${escaped(text)}</text>`;
}

const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text) => text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character]);
