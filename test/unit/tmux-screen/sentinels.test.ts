import { describe, expect, it } from 'vitest';
import { SentinelLedger } from '../../../src/backends/tmux/sentinel-ledger.js';
import { findSentinels } from '../../../src/core/sentinels.js';

const found = (...lines: readonly string[]) =>
  findSentinels(lines).map(({ word, nonce, summary }) => [word, nonce, summary]);

describe('finding sentinels', () => {
  it.each([
    ['WORKER_DONE: ok', ['done', null, 'ok']],
    ['  WORKER_DONE:ok', ['done', null, 'ok']],
    ['● WORKER_DONE[ab12]: ok', ['done', 'ab12', 'ok']],
    ['│ > WORKER_BLOCKED[n]: why   │', ['blocked', 'n', 'why']],
    ['⏺ - WORKER_FAILED:', ['failed', null, '']],
    ['WORKER_DONE: it says "WORKER_FAILED: x" there', ['done', null, 'it says "WORKER_FAILED: x" there']],
  ])('takes %j', (line, sentinel) => expect(found(line)).toEqual([sentinel]));

  it.each([
    'I will print WORKER_DONE: ok',
    '"WORKER_DONE: ok"',
    '`WORKER_DONE: ok`',
    '(WORKER_DONE: ok)',
    'WORKER_DONE',
    'WORKER_DONE - ok',
    'WORKER_DONE [n]: ok',
    'WORKER_DONE[a b]: ok',
    'WORKER_DONES: ok',
    'worker_done: ok',
    '1. WORKER_DONE: ok',
  ])('leaves %j', (line) => expect(found(line)).toEqual([]));
});

describe('the ledger of sentinel lines', () => {
  const ledger = () => {
    const known = new SentinelLedger();
    return (...lines: readonly string[]) => known.take(findSentinels(lines)).map(({ line }) => line);
  };

  it('tells each line once, oldest first', () => {
    const take = ledger();
    expect(take('WORKER_DONE: a', 'WORKER_FAILED: b')).toEqual(['WORKER_DONE: a', 'WORKER_FAILED: b']);
    expect(take('WORKER_DONE: a', 'WORKER_FAILED: b', 'WORKER_DONE: c')).toEqual(['WORKER_DONE: c']);
  });

  it('takes the same line printed again for a new one, the later of the two', () => {
    const take = ledger();
    take('WORKER_DONE: a', 'WORKER_FAILED: b');
    expect(take('WORKER_DONE: a', 'WORKER_FAILED: b', 'WORKER_DONE: a')).toEqual(['WORKER_DONE: a']);
  });

  it('is not fooled by lines that scroll off or come back', () => {
    const take = ledger();
    take('WORKER_DONE: a', 'WORKER_DONE: b');
    expect(take('WORKER_DONE: b')).toEqual([]);
    expect(take()).toEqual([]);
    expect(take('WORKER_DONE: a', 'WORKER_DONE: b')).toEqual([]);
  });
});
