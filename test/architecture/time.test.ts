import { describe, expect, it } from 'vitest';
import { linesMatching, sourceFiles } from './sources.js';

/** What reaches for the machine's time instead of the Clock it was given. */
const MACHINE_TIME =
  /\b(setTimeout|setInterval|setImmediate|Date\.now|performance\.now)\b|new Date\(\)|node:timers|AbortSignal\.timeout/;

describe('time', () => {
  it('comes from the Clock everywhere outside src/platform', () => {
    const files = sourceFiles('src').filter(({ path }) => !path.startsWith('src/platform/'));
    expect(linesMatching(files, MACHINE_TIME)).toEqual([]);
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
