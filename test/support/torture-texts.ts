/**
 * Texts that senders of this kind garble: one table for every entrance (pane, CLI, MCP, script). `arrives` is what the
 * agent must get where that is not the text itself: line ends are LF, control bytes and line ends at the very end are
 * dropped, nothing else is touched.
 */
export interface TortureText {
  readonly name: string;
  readonly text: string;
  readonly arrives?: string;
}

const shell =
  '"double" \'single\' `back` $(touch X) $HOME ${HOME} !! !x % %% %1 \\ \\\\ \\n & | < > ( ) { } * ? ~ ^ #';

export const KEY_NAMES: readonly TortureText[] = [
  '-x',
  '--help',
  'Enter',
  'C-c',
  'Escape',
  '-l',
  '@file',
  '#{pane_id}',
  'Up',
  'C-m',
  'BSpace',
].map((text) => ({ name: `the literal text ${text}`, text }));

export const SEMICOLONS: readonly TortureText[] = [
  ';',
  'do it;',
  'do it;;',
  'do it\\;',
  'a; b; c;',
  '; first',
  `${'x'.repeat(8_191)};`,
  `${'x'.repeat(8_192)};`,
].map((text) => ({
  name: `semicolons in ${text.length > 20 ? `${text.length} bytes` : JSON.stringify(text)}`,
  text,
}));

export const LINES: readonly TortureText[] = [
  { name: 'three lines', text: 'one\ntwo\nthree' },
  { name: 'blank lines', text: 'one\n\n\ntwo\n\nthree' },
  { name: 'a blank first line', text: '\n\nafter two blank lines' },
  { name: 'CRLF line ends', text: 'one\r\ntwo\r\n\r\nthree', arrives: 'one\ntwo\n\nthree' },
  { name: 'CR line ends', text: 'one\rtwo', arrives: 'one\ntwo' },
  { name: 'a line end at the end', text: 'one\ntwo\n', arrives: 'one\ntwo' },
  { name: 'tabs and leading spaces', text: '\tone\n    two\n\t\tthree\tfour' },
  { name: 'trailing spaces inside', text: 'one   \ntwo' },
  { name: 'a line that is only y', text: 'really?\ny\nn' },
  { name: 'only y', text: 'y' },
  {
    name: 'markdown',
    text: '# Goal\n\n- [ ] item; with "quotes"\n\n```sh\necho "$HOME" | tee `pwd`/x\n```\n> quoted',
  },
];

export const SHELL_TEXTS: readonly TortureText[] = [
  { name: 'everything a shell knows', text: shell },
  { name: 'a lone quote', text: "it's" },
  { name: 'a command substitution', text: '$(touch X) `touch X` ; touch X' },
  { name: 'a here document', text: "cat <<'EOF'\n$HOME\nEOF" },
  { name: 'a backslash at the end', text: 'path C:\\' },
  { name: 'formats of tmux', text: '#{pane_id} #(touch X) #S #[fg=red] ##' },
  { name: 'a long run of backslashes', text: '\\'.repeat(33) },
];

export const UNICODE: readonly TortureText[] = [
  { name: 'accents, CJK and emoji', text: 'Grüße, żółw, 日本語テキスト, 👩‍👩‍👧‍👦 🇨🇭 é' },
  { name: 'wide characters at the wrap column', text: `${'あ'.repeat(200)}終` },
  { name: 'right-to-left text', text: 'שלום עולם مرحبا' },
];

export const CONTROLS: readonly TortureText[] = [
  { name: 'escape sequences', text: 'a\u001b[31mred\u001b[0m b', arrives: 'a[31mred[0m b' },
  {
    name: 'an end of paste inside',
    text: 'safe\u001b[201~\rrm -rf /\u001b[200~',
    arrives: 'safe[201~\nrm -rf /[200~',
  },
  {
    name: 'C0, DEL and C1',
    text: 'a\u0000b\u0003c\u0004d\u0007e\u0008f\u007fg\u0085h\u009bi',
    arrives: 'abcdefghi',
  },
];

/** `size` bytes of text in lines of about 70 that say where they are. */
export function textOfSize(size: number): string {
  let text = '';
  for (let line = 1; text.length < size; line++)
    text += `line ${line}: the quick brown fox; jumps "over" the $lazy dog #${line}\n`;
  return `${text
    .slice(0, size - 1)
    .trimEnd()
    .padEnd(size - 1, '.')}!`;
}

export const TORTURE_TEXTS: readonly TortureText[] = [
  ...KEY_NAMES,
  ...SEMICOLONS,
  ...LINES,
  ...SHELL_TEXTS,
  ...UNICODE,
  ...CONTROLS,
];

export function arrivesAs({ text, arrives }: TortureText): string {
  return arrives ?? text;
}
