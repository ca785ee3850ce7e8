import { describe, expect, it } from 'vitest';
import { holdsExactly, mayBeDrawn, relateComposer } from '../../../src/backends/tmux/composer-text.js';
import { promptAppeared } from '../../../src/backends/tmux/transcript.js';

const LONG = 'the first line of a long text\n\twith a tab\n\nand an end';

describe('a composer after our paste', () => {
  it.each([
    ['', 'empty'],
    [' \n ', 'empty'],
    ['the first line of a\nlong text\n    with a tab\n\nand an end', 'ours'],
    ['with a tab\n\nand an end', 'ours'],
    ['…and an end', 'ours'],
    [`abc ${LONG}`, 'mixed'],
    [`${LONG} and me`, 'mixed'],
    ['something else', 'other'],
  ])('that shows %j is %s', (shown, relation) => expect(relateComposer(shown, LONG, null)).toBe(relation));

  it('that shows a stand-in for a large paste is ours as long as it is that stand-in', () => {
    const mark = '[Pasted text #1 +3 lines]';
    expect(relateComposer(mark, LONG, mark)).toBe('ours');
    expect(relateComposer('[Pasted text #1 +30 lines]', LONG, mark)).toBe('ours');
    expect(relateComposer(`${mark} and me`, LONG, mark)).toBe('mixed');
    expect(relateComposer('my own words', LONG, mark)).toBe('other');
  });
});

describe('a composer that somebody else filled', () => {
  const clipped = Array.from({ length: 90 }, (_, index) => `line ${index} of a text`).join('\n');
  it.each([
    ['the first line of a\nlong text\n    with a tab\n\nand an end', LONG, true],
    ['with a tab\n\nand an end', LONG, false],
    ['a', LONG, false],
    ['', LONG, false],
    [`${LONG} and me`, LONG, false],
    ['[Pasted text #1 +3 lines]', LONG, true],
    ['[Pasted text #1 +30 lines]', LONG, false],
    [`…${clipped.slice(-400)}`, clipped, true],
    [clipped.slice(0, 100), clipped, false],
  ])('%j', (shown, text, holds) => expect(holdsExactly(shown, text)).toBe(holds));
});

const BOX = ['────', '>', '────', '  ready'];
const screen = (...rows: readonly string[]) => [...rows, ...BOX, '', ''];

describe('a prompt in the transcript', () => {
  it('appears above a box that is the same as before', () => {
    expect(promptAppeared('hello agent', screen(), screen('> hello agent', '● hi'))).toBe(true);
    expect(promptAppeared('y', screen('> y', '● 1'), screen('> y', '● 1', '> y', '● 2'))).toBe(true);
    expect(promptAppeared('one\n\ntwo', screen(), screen('> one', '', '  two', '● hi'))).toBe(true);
  });

  it('appears although the rows above have scrolled', () => {
    const before = screen('> y', '● 1', '> y', '● 2', '> y', '● 3');
    expect(promptAppeared('y', before, screen('> y', '● 2', '> y', '● 3', '> y', '● 4'))).toBe(true);
  });

  it('of many words is found by its begin or its end, however it is wrapped', () => {
    const long = `begin ${'middle '.repeat(200)}end of the text`;
    const wrapped = (text: string) => text.match(/.{1,40}/g)?.map((row) => `  ${row}`) ?? [];
    expect(promptAppeared(long, screen('● 1'), screen('● 1', ...wrapped(long.slice(0, 300)), '…'))).toBe(
      true,
    );
    expect(promptAppeared(long, screen('● 1'), screen(...wrapped(long.slice(-300))))).toBe(true);
  });

  it('has not appeared on a screen that did not change', () => {
    expect(promptAppeared('y', screen('> y', '● 1'), screen('> y', '● 1'))).toBe(false);
  });

  it('has not appeared where a short text is only a part of a row', () => {
    expect(promptAppeared('y', screen(), screen('● yes, why not'))).toBe(false);
  });

  it('must stand there more often than before on a screen that was redrawn altogether', () => {
    const before = ['> hello agent', '● 1', 'status 1'];
    expect(promptAppeared('hello agent', before, ['> hello agent', '● 2', 'status 2'])).toBe(false);
    expect(promptAppeared('hello agent', before, ['> hello agent', '● 2', '> hello agent', 'status 2'])).toBe(
      true,
    );
  });
});

describe('what an empty composer shows first after our paste', () => {
  it.each([
    ['[Pasted text #1 +3 lines]', LONG, true],
    ['the first line — of a long text', LONG, true],
    ['y', 'y', true],
    [';;', ';;', true],
    ['h1', `${LONG} h1`, false],
    ['h', LONG, false],
    ['my own thought', LONG, false],
    ['h1[Pasted text #1 +3 lines]', LONG, false],
  ])('%j after %j may be ours: %s', (shown, typed, expected) =>
    expect(mayBeDrawn(shown, typed)).toBe(expected),
  );
});
