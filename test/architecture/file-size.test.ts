import { describe, expect, it } from 'vitest';
import { sourceFiles } from './sources.js';

const MOST_LINES = 300;

/** file → why it may be longer. An entry that is no longer needed fails. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'src/core/errors/catalog.ts': 'one table: every failure that a user can cause or fix, side by side',
};

describe(`no file is longer than ${MOST_LINES} lines`, () => {
  const files = ['src', 'test', 'scripts', 'bin'].flatMap((folder) =>
    sourceFiles(folder, ['.ts', '.mjs', '.cjs', '.sh', '.sql']),
  );
  const tooLong = files
    .map(({ path, text }) => ({ path, lines: text.trimEnd().split('\n').length }))
    .filter(({ lines }) => lines > MOST_LINES);

  it('except those with a reason', () => {
    expect(tooLong.filter(({ path }) => !(path in EXCEPTIONS))).toEqual([]);
  });

  it.each(Object.keys(EXCEPTIONS))('and %s still needs its exception', (path) => {
    expect(tooLong.map((file) => file.path)).toContain(path);
  });
});
