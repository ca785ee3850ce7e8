import { describe, expect, it } from 'vitest';
import { linesMatching, sourceFiles } from './sources.js';

/** What reaches for the machine's time instead of the Clock it was given. */
const MACHINE_TIME =
  /\b(setTimeout|setInterval|Date\.now|performance\.now)\b|new Date\(\)|node:timers|AbortSignal\.timeout/;

/** file → why it cannot take a Clock. An entry that is no longer needed fails. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'src/scripted/steps-work.ts': 'the text of a child program that the scripted agent leaves running',
};

describe('time', () => {
  it('comes from the Clock everywhere outside src/platform', () => {
    const files = sourceFiles('src').filter(({ path }) => !path.startsWith('src/platform/'));
    expect(
      linesMatching(
        files.filter(({ path }) => !(path in EXCEPTIONS)),
        MACHINE_TIME,
      ),
    ).toEqual([]);
  });

  it.each(Object.keys(EXCEPTIONS))('is really reached for in the exception %s', (path) => {
    expect(
      linesMatching(
        sourceFiles('src').filter((file) => file.path === path),
        MACHINE_TIME,
      ),
    ).not.toEqual([]);
  });

  it('never ticks at an interval, in src/platform neither', () => {
    expect(linesMatching(sourceFiles('src'), /\bsetInterval\b/)).toEqual([]);
  });

  it.each(['setTimeout(f, 10)', 'await Date.now()', "from 'node:timers/promises'", 'new Date()'])(
    'is recognised in: %s',
    (text) => {
      expect(linesMatching([{ path: 'x', text }], MACHINE_TIME)).toHaveLength(1);
    },
  );
});
