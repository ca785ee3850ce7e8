import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OutputScanner } from '../../../src/backends/tmux/output-scanner.js';

const feed = (scanner: OutputScanner, ...chunks: readonly string[]) =>
  chunks.map((chunk) => scanner.feed(Buffer.from(chunk, 'latin1')));

describe('scanning the raw output of a pane', () => {
  it.each([
    ['\\033[?2004h', true],
    ['\\033[?2004l', false],
    ['\\033[?1049;2004;25h', true],
    ['\\033[?2004h text \\033[?2004l', false],
    ['\\033[?2004h\\033c', false],
    ['\\033[?2004l\\033[?2004h', true],
    ['\\033[?12004h', null],
    ['2004h', null],
    ['\\134033[?2004h', null],
  ])('knows from %j that bracketed paste is %j', (output, on) => {
    const scanner = new OutputScanner();
    feed(scanner, output);
    expect(scanner.bracketedPaste).toBe(on);
  });

  it('knows it wherever the chunks are cut', () => {
    const output = 'text\\015\\012\\033[?2004l\\033[?25l more \\033[?1;2004h\\033[2J text';
    fc.assert(
      fc.property(fc.array(fc.nat(output.length), { maxLength: 8 }), (cuts) => {
        const scanner = new OutputScanner();
        const at = [0, ...cuts.toSorted((a, b) => a - b), output.length];
        feed(scanner, ...at.slice(1).map((end, index) => output.slice(at[index], end)));
        expect(scanner.bracketedPaste).toBe(true);
      }),
    );
  });

  it('hints at a sentinel as it begins, and when its line is whole', () => {
    const scanner = new OutputScanner();
    expect(feed(scanner, 'noise', 'WORK', 'ER_DONE: al', 'most', ' there\\015\\012', 'noise')).toEqual([
      'none',
      'none',
      'begun',
      'none',
      'complete',
      'none',
    ]);
    expect(feed(scanner, 'WORKER_DONE: x\\015\\012WORKER_FAILED: y', '\\012')).toEqual(['begun', 'complete']);
  });
});

describe('after output was missed', () => {
  it('nothing is put together from before and after, and the next line end calls for a look', () => {
    const scanner = new OutputScanner();
    feed(scanner, '\\033[?2004h text \\033[?20');
    expect(scanner.skip()).toBe('begun');
    expect(feed(scanner, '04l still ', 'DONE: x', '\\015\\012', 'more\\015\\012')).toEqual([
      'none',
      'none',
      'complete',
      'none',
    ]);
    expect(scanner.bracketedPaste).toBe(true);
  });
});
