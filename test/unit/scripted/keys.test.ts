import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/core/clock.js';
import { createKeyParser, type Input } from '../../../src/scripted/terminal/keys.js';

/** Feeds chunks; `pass` lets the time for a lone ESC run out. */
function parser() {
  const inputs: Input[] = [];
  const tasks = new Set<() => void>();
  const clock: Clock = {
    now: () => 0,
    after: (_delay, task) => {
      tasks.add(task);
      return () => tasks.delete(task);
    },
  };
  const feed = createKeyParser(clock, (input) => inputs.push(input));
  return {
    inputs,
    feed: (...chunks: readonly (string | Buffer)[]) => chunks.forEach((chunk) => feed(Buffer.from(chunk))),
    pass: () => [...tasks].forEach((task) => task()),
  };
}

describe('the key parser', () => {
  it('tells text, keys and pastes apart', () => {
    const { inputs, feed } = parser();
    feed('hi\r\u001b[A\u0003\u001b[200~pasted\ntext\u001b[201~\u001b\r\u007f');
    expect(inputs).toEqual([
      { type: 'text', text: 'hi' },
      { type: 'key', name: 'enter' },
      { type: 'key', name: 'up' },
      { type: 'key', name: 'ctrl-c' },
      { type: 'paste', text: 'pasted\ntext' },
      { type: 'key', name: 'newline' },
      { type: 'key', name: 'backspace' },
    ]);
  });

  it('gives a paste whole, with everything that looks like keys in it, however the bytes are cut', () => {
    const body = fc
      .string({ unit: 'binary', maxLength: 60 })
      .filter((text) => !text.includes('\u001b[201~') && !text.includes('\r'));
    fc.assert(
      fc.property(body, fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }), (text, sizes) => {
        const well = Buffer.from(text).toString();
        const bytes = Buffer.from(`\u001b[200~${text}\u001b[201~x`);
        const { inputs, feed } = parser();
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const size = sizes[turn % sizes.length] ?? 1;
          feed(bytes.subarray(at, at + size));
          at += size;
        }
        expect(inputs).toEqual([
          { type: 'paste', text: well },
          { type: 'text', text: 'x' },
        ]);
      }),
    );
  });

  it('takes the carriage returns of a terminal that pastes line ends so as line feeds', () => {
    const { inputs, feed } = parser();
    feed('\u001b[200~a\rb\u001b[201~\u001b[200~c\r\nd\u001b[201~');
    expect(inputs).toEqual([
      { type: 'paste', text: 'a\nb' },
      { type: 'paste', text: 'c\r\nd' },
    ]);
  });

  it('takes a lone ESC as the key only when nothing followed in time', () => {
    const { inputs, feed, pass } = parser();
    feed('\u001b');
    expect(inputs).toEqual([]);
    pass();
    feed('\u001b', '[B');
    pass();
    expect(inputs).toEqual([
      { type: 'key', name: 'escape' },
      { type: 'key', name: 'down' },
    ]);
  });

  it('swallows sequences that it does not know', () => {
    const { inputs, feed } = parser();
    feed('\u001b[I\u001b[1;5Pq\u001b[?62;22c');
    expect(inputs).toEqual([{ type: 'text', text: 'q' }]);
  });
});
