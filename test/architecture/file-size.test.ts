import { describe, expect, it } from 'vitest';
import { sourceFiles } from './sources.js';

/** A test may be longer than code: its cases are read one by one. */
const MOST_LINES = { src: 300, scripts: 300, bin: 300, test: 400 } as const;

/** file → why it may be longer. An entry that is no longer needed fails. */
const EXCEPTIONS: Readonly<Record<string, string>> = {};

describe('no file is longer than 300 lines, no test longer than 400', () => {
  const tooLong = Object.entries(MOST_LINES).flatMap(([folder, most]) =>
    sourceFiles(folder, ['.ts', '.mjs', '.cjs', '.sh', '.sql'])
      .map(({ path, text }) => ({ path, lines: text.trimEnd().split('\n').length }))
      .filter(({ lines }) => lines > most),
  );

  it('except those with a reason', () => {
    expect(tooLong.filter(({ path }) => !(path in EXCEPTIONS))).toEqual([]);
  });

  it.each(Object.keys(EXCEPTIONS))('and %s still needs its exception', (path) => {
    expect(tooLong.map((file) => file.path)).toContain(path);
  });
});
