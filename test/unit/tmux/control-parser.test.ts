import { describe, expect, test } from 'vitest';
import { createControlParser, unescapeOutput } from '../../../src/backends/tmux/control-parser.js';

type Seen = readonly [string, ...unknown[]];

function parse(chunks: readonly Buffer[]): Seen[] {
  const seen: Seen[] = [];
  const push = createControlParser({
    answer: (answer) => seen.push(['answer', answer]),
    output: (paneId, data) => seen.push(['output', paneId, data.toString('latin1')]),
    notification: (line) => seen.push(['notification', line]),
    exit: (reason) => seen.push(['exit', reason]),
  });
  for (const chunk of chunks) push(chunk);
  return seen;
}

const STREAM = Buffer.concat([
  Buffer.from('%begin 100 1 0\n%end 100 1 0\n'),
  Buffer.from('%session-changed $0 agentorchestr\n'),
  Buffer.from('%begin 101 7 1\n%output %0 not really\n%end 101 6 1\n\nzürich 🎉\n%end 101 7 1\n'),
  Buffer.from('%output %12 a\\015\\012 '),
  Buffer.from([0xc3]),
  Buffer.from('\n%extended-output %3 17 : b : c\n'),
  Buffer.from('%begin 102 8 1\nunknown command: x\n%error 102 8 1\n%exit server exited unexpectedly\n'),
]);

const EXPECTED: Seen[] = [
  ['answer', { ok: true, own: false, lines: [] }],
  ['notification', 'session-changed $0 agentorchestr'],
  ['answer', { ok: true, own: true, lines: ['%output %0 not really', '%end 101 6 1', '', 'zürich 🎉'] }],
  ['output', '%12', 'a\\015\\012 \u00c3'],
  ['output', '%3', 'b : c'],
  ['answer', { ok: false, own: true, lines: ['unknown command: x'] }],
  ['exit', 'server exited unexpectedly'],
];

describe('createControlParser', () => {
  test('tells answers, output, notifications and the exit apart, lines inside an answer never', () => {
    expect(parse([STREAM])).toEqual(EXPECTED);
  });

  test('gives the same for every place the stream can be cut at', () => {
    for (let at = 1; at < STREAM.length; at++) {
      expect(parse([STREAM.subarray(0, at), STREAM.subarray(at)]), `cut at ${at}`).toEqual(EXPECTED);
    }
    expect(parse([...STREAM].map((byte) => Buffer.from([byte])))).toEqual(EXPECTED);
  });
});

describe('unescapeOutput', () => {
  test('gives back all 256 byte values as tmux escapes them', () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, value) => value));
    const escaped = Buffer.concat(
      [...bytes].map((byte) =>
        byte < 0x20 || byte === 0x5c
          ? Buffer.from(`\\${byte.toString(8).padStart(3, '0')}`)
          : Buffer.from([byte]),
      ),
    );
    expect(unescapeOutput(escaped).equals(bytes)).toBe(true);
  });

  test('keeps an escape that is cut at the end as it is', () => {
    expect(unescapeOutput(Buffer.from('ab\\01')).toString()).toBe('ab\\01');
    expect(unescapeOutput(Buffer.from('ab\\012')).toString()).toBe('ab\n');
  });
});
