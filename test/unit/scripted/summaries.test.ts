import { describe, expect, it } from 'vitest';
import { callLine, resultLine } from '../../../src/scripted/summaries.js';

describe('what is shown of a tool call', () => {
  it('is one line, however long and broken the input', () => {
    expect(callLine('spawn_worker', { task: `first\nsecond ${'x'.repeat(80)}`, scope: ['a'] })).toBe(
      `spawn_worker(task: first second ${'x'.repeat(46)}…, scope: ["a"])`,
    );
  });

  it('is the part of the result that says something, the state first', () => {
    const value = {
      conflicts: [],
      commands: [{ command: 'node --test', exit_code: 0, tail: '…' }],
      results: [{ worker_id: 'w01', state: 'done', summary: 'x' }],
      files: [{ path: 'a.js', added: 1 }, 'b.js'],
      sha: null,
      reused: false,
      merged: false,
      state: 'passed',
    };
    expect(resultLine(value)).toBe(
      'state passed · merged false · commands node --test → 0 · results w01 done · files a.js, b.js',
    );
  });

  it('is never longer than a few rows', () => {
    const value = Object.fromEntries(
      Array.from({ length: 50 }, (_, index) => [`field${index}`, 'value '.repeat(50)]),
    );
    expect(resultLine(value)).toHaveLength(240);
  });

  it.each([
    [['a', 'b'], '["a","b"]'],
    ['text\nmore', 'text more'],
    [null, 'null'],
    [undefined, ''],
  ])('takes %j too', (value, line) => {
    expect(resultLine(value)).toBe(line);
  });
});
