import { describe, expect, it } from 'vitest';
import type { Sentinel } from '../../../../src/core/sentinels.js';
import type { MessageRow, RunRow } from '../../../../src/core/state/rows.js';
import { parseFlag } from '../../../../src/services/engine/flag-watch.js';
import { isSameText } from '../../../../src/services/engine/same-text.js';
import { reportOfSentinels } from '../../../../src/services/engine/sentinel-report.js';

describe('a flag file', () => {
  it.each([
    ['done\nwritten', { state: 'succeeded', summary: 'written' }],
    ['done', { state: 'succeeded', summary: '' }],
    ['DONE\r\nwritten\r\n', { state: 'succeeded', summary: 'written' }],
    ['  Blocked  \n\n  no network\n', { state: 'blocked', summary: 'no network' }],
    ['failed\none\ntwo', { state: 'failed', summary: 'one\ntwo' }],
    [`done\n${'x'.repeat(400)}`, { state: 'succeeded', summary: 'x'.repeat(300) }],
    ['', null],
    ['\ndone', null],
    ['done: written', null],
    ['finished\nwritten', null],
    ['constructor', null],
    ['toString\nx', null],
  ])('with %j says %j', (text, report) => {
    expect(parseFlag(text)).toEqual(report);
  });
});

const run = { nonce: 'abc123' } as RunRow;
const sent = (...texts: string[]) => texts.map((text) => ({ text }) as MessageRow);
const line = (word: Sentinel['word'], nonce: string | null, summary: string): Sentinel => ({
  word,
  nonce,
  summary,
  line: `WORKER_${word.toUpperCase()}${nonce === null ? '' : `[${nonce}]`}: ${summary}`,
});

describe('sentinel lines', () => {
  it.each([
    ['none', [], [], null],
    ['one of this run', [line('done', 'abc123', 'a')], [], { state: 'succeeded', summary: 'a' }],
    ['one of another run', [line('done', 'other1', 'a')], [], null],
    ['a plain one', [line('blocked', null, 'b')], ['do it'], { state: 'blocked', summary: 'b' }],
    ['a plain one that we sent', [line('done', null, 'all good')], ['say WORKER_DONE: all good'], null],
    [
      'a plain one of which we sent the beginning only',
      [line('done', null, 'all good')],
      ['say WORKER_DONE: and a summary'],
      { state: 'succeeded', summary: 'all good' },
    ],
    [
      'several, where the last one wins',
      [line('done', 'abc123', 'a'), line('failed', null, 'b')],
      [],
      { state: 'failed', summary: 'b' },
    ],
    [
      'several, where the last one does not count',
      [line('done', 'abc123', 'a'), line('failed', 'other1', 'b')],
      [],
      { state: 'succeeded', summary: 'a' },
    ],
    [
      'one of this run although that very line was sent: the name is proof',
      [line('done', 'abc123', 'a')],
      ['WORKER_DONE[abc123]: a'],
      { state: 'succeeded', summary: 'a' },
    ],
  ] as const)('%s', (_what, lines, texts, report) => {
    expect(reportOfSentinels(lines, run, sent(...texts))).toEqual(report);
  });
});

describe('the text that a hook gives back', () => {
  it.each([
    ['a\nb', 'a\r\nb', true],
    ['a', '  a\n', true],
    ['', ' ', true],
    ['a b', 'a  b', false],
    ['a', 'a and more', false],
  ])('%j is the same as %j: %s', (a, b, same) => {
    expect(isSameText(a, b)).toBe(same);
  });
});
