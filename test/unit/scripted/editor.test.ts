import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Editor } from '../../../src/scripted/terminal/editor.js';
import { textWidth } from '../../../src/scripted/terminal/width.js';

function editor(text: string, move = 0): Editor {
  const made = new Editor();
  made.insert(text);
  made.move(move);
  return made;
}

describe('the input box', () => {
  it('submits exactly what was typed and pasted, whatever it is', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.boolean(), fc.string({ unit: 'binary', maxLength: 40 })), { maxLength: 8 }),
        (parts) => {
          const box = new Editor();
          for (const [isPaste, text] of parts) {
            if (isPaste) box.paste(text);
            else box.insert(text);
          }
          expect(box.text).toBe(parts.map(([, text]) => text).join(''));
        },
      ),
    );
  });

  it('shows a short paste as it is and a long one as a numbered mark', () => {
    const box = new Editor();
    box.paste('a\nb\nc\nd\ne');
    box.paste('1\n2\n3\n4\n5\n6');
    box.paste('x'.repeat(2_001));
    expect(box.shown).toBe('a\nb\nc\nd\ne[Pasted text #1 +5 lines][Pasted text #2 2001 characters]');
    box.backspace();
    expect(box.shown).toBe('a\nb\nc\nd\ne[Pasted text #1 +5 lines]');
  });

  it.each<[string, Editor, (box: Editor) => void, string]>([
    [
      'backspace takes a whole character',
      editor('ae\u0301👩‍👩‍👧'),
      (box) => (box.backspace(), box.backspace()),
      'a',
    ],
    ['backspace at the begin does nothing', editor('ab', -2), (box) => box.backspace(), 'ab'],
    ['delete takes what is right of the cursor', editor('ab', -1), (box) => box.delete(), 'a'],
    [
      'home goes to the begin of the line',
      editor('one\ntwo'),
      (box) => (box.home(), box.insert('>')),
      'one\n>two',
    ],
    [
      'home at the very begin stays',
      editor('one\ntwo', -7),
      (box) => (box.home(), box.insert('>')),
      '>one\ntwo',
    ],
    [
      'end goes to the end of the line',
      editor('one\ntwo', -7),
      (box) => (box.end(), box.insert('<')),
      'one<\ntwo',
    ],
    [
      'ctrl-u takes the line up to the cursor',
      editor('one\ntwo three', -5),
      (box) => box.killToStart(),
      'one\nthree',
    ],
    ['ctrl-k takes the line from the cursor', editor('one\ntwo', -5), (box) => box.killToEnd(), 'on\ntwo'],
    ['ctrl-w takes a word and the blanks after it', editor('one two  '), (box) => box.killWord(), 'one '],
  ])('%s', (_name, box, act, text) => {
    act(box);
    expect(box.text).toBe(text);
  });

  it('wraps by cells, and says where the cursor is', () => {
    expect(editor('漢字漢字ab').draw(10, 5)).toEqual({
      rows: ['> 漢字漢字', '  ab'],
      cursor: { row: 1, column: 4 },
    });
  });

  it('shows the rows around the cursor when there are too many, and never a control character', () => {
    const box = editor('1\n2\n3\n4\u001b[2J');
    expect(box.draw(20, 2)).toEqual({ rows: ['> 3', '  4\ufffd[2J'], cursor: { row: 1, column: 7 } });
  });

  it('never draws a row wider than it was told', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 200 }),
        fc.integer({ min: 10, max: 60 }),
        (text, width) => {
          for (const row of editor(text).draw(width, 8).rows)
            expect(textWidth(row)).toBeLessThanOrEqual(width);
        },
      ),
    );
  });
});
