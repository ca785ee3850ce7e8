import { describe, expect, it } from 'vitest';
import type { ScreenRules } from '../../../src/agents/contract.js';
import { linePromptComposer } from '../../../src/agents/screen-kit.js';
import { parseScreen, readScreen } from '../../../src/backends/tmux/screen.js';

const cursor = { row: 0, column: 0 };
const parse = (...lines: readonly string[]) => parseScreen(lines, cursor);

describe('parsing a captured pane', () => {
  it('drops styles, hyperlinks and blanks at the end of rows', () => {
    const screen = parse(
      '\u001b[1;31mred\u001b[0m plain   ',
      '\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\',
      '',
    );
    expect(screen).toEqual({ rows: ['red plain', 'link', ''], solid: ['red plain', 'link', ''], cursor });
  });

  it('blanks dim text in `solid`, rows keeping their length', () => {
    const screen = parse('> \u001b[2mTry this\u001b[22m now');
    expect(screen.rows).toEqual(['> Try this now']);
    expect(screen.solid).toEqual(['>          now']);
  });

  it('carries a style on into the next rows, as tmux writes it', () => {
    const screen = parse('> \u001b[2mone', 'two', '\u001b[0mthree');
    expect(screen.solid).toEqual(['>    ', '   ', 'three']);
  });

  it('does not take the 2 of a colour for dim', () => {
    expect(parse('\u001b[38;2;10;20;30mtrue colour\u001b[39m \u001b[48;5;2mindexed\u001b[0m').solid).toEqual([
      'true colour indexed',
    ]);
  });

  it('takes a reversed letter before dim text for the cursor on a suggestion, any other for text', () => {
    expect(parse('> \u001b[7mT\u001b[27m\u001b[2mry this\u001b[0m').solid).toEqual(['>         ']);
    expect(parse('> \u001b[7mT\u001b[27mry this').solid).toEqual(['> Try this']);
    expect(parse('> tex\u001b[7mt\u001b[27m').solid).toEqual(['> text']);
  });

  it('draws line-drawing glyphs as lines', () => {
    expect(parse('\u000elqqk\u000f', '\u000ex\u000f hi').rows).toEqual(['┌──┐', '│ hi']);
  });
});

const composer = linePromptComposer({ prompt: /^[│\s]*[>❯] ?/, end: /^\s*[╰─]/, border: /^│|│\s*$/g });
const rules: ScreenRules = {
  recordedVersion: '1',
  tailRows: 4,
  states: [
    { when: /Do you want/, means: 'waiting', kind: 'permission' },
    { when: /Sure\?/, means: 'waiting' },
    { when: /esc to interrupt/, means: 'working' },
    { when: /(?<text>■ .*limit.*)/, means: 'error', kind: 'quota' },
    { when: /■/, means: 'error' },
    { when: /for shortcuts/, means: 'idle' },
  ],
  composer,
};

describe('reading a screen by rules', () => {
  it('looks at the last rows above the blank bottom only, and takes the first rule that matches', () => {
    const screen = parse('Do you want', 'answer', '────', '> hello', '────', ' ? for shortcuts', '', '', '');
    expect(readScreen(rules, screen)).toEqual({
      state: 'idle',
      kind: null,
      text: '',
      shown: '',
      dialog: null,
      composer: { text: 'hello' },
    });
  });

  it('keeps what a dialog says, and calls it a dialog where the rule has no kind', () => {
    expect(readScreen(rules, parse('Do you want it?', '1. Yes'))).toMatchObject({
      state: 'waiting',
      kind: 'permission',
      text: 'Do you want it?\n1. Yes',
    });
    expect(readScreen(rules, parse('Sure?'))).toMatchObject({ state: 'waiting', kind: 'dialog' });
  });

  it('tells of a failure what its rule takes for its words, and by whom it can be mended', () => {
    expect(readScreen(rules, parse('an answer', '■ the limit is reached', '> '))).toMatchObject({
      state: 'error',
      kind: 'quota',
      text: '■ the limit is reached',
      shown: 'an answer\n■ the limit is reached\n>',
    });
    const plain = { state: 'error', kind: null, text: 'before\n■ it failed' };
    expect(readScreen(rules, parse('before', '■ it failed'))).toMatchObject(plain);
  });

  it('is unknown where nothing matches', () => {
    expect(readScreen(rules, parse('$ '))).toEqual({
      state: 'unknown',
      kind: null,
      text: '',
      shown: '',
      dialog: null,
      composer: null,
    });
  });
});

describe('a composer behind a prompt sign', () => {
  it('holds all rows down to the end of the box', () => {
    expect(composer(parse('> old prompt', '────', '> one', '  two', '', '  three', '────'))).toEqual({
      text: 'one\ntwo\n\nthree',
    });
  });

  it('is read inside a frame', () => {
    expect(composer(parse('╭────╮', '│ > typed    │', '│   more     │', '╰────╯'))).toEqual({
      text: 'typed\nmore',
    });
  });

  it('is empty with a suggestion in it', () => {
    expect(composer(parse('────', '> \u001b[2mTry "fix"\u001b[0m', '────'))).toEqual({ text: '' });
  });

  it('is absent where none is drawn', () => {
    expect(composer(parse('plain text', '────', 'no prompt sign', '────'))).toBeNull();
  });
});
