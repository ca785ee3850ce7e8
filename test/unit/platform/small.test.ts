import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OrchestratorError } from '../../../src/core/errors/error.js';
import { hashOf, newId, newSessionId, randomNonce } from '../../../src/platform/ids.js';
import { createMutex, withFileLock } from '../../../src/platform/locks.js';
import { watchDirectory } from '../../../src/platform/watch.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ao-small-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A promise and what settles it. */
function gate(): { opened: Promise<void>; open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

describe('ids', () => {
  it('sort by time, and never repeat', () => {
    const ids = Array.from({ length: 1_000 }, newId);
    expect(ids).toEqual([...new Set(ids)].sort());
  });

  it('have the form that each is known by', () => {
    expect([newId(), newSessionId(), randomNonce()]).toEqual([
      expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      expect.stringMatching(/^[0-9a-f]{8}$/),
      expect.stringMatching(/^[0-9a-f]{10}$/),
    ]);
  });

  it('of equal values are equal hashes', () => {
    expect(hashOf({ a: 1, b: [2] })).toBe(hashOf({ a: 1, b: [2] }));
    expect(hashOf({ a: 1 })).not.toBe(hashOf({ a: '1' }));
  });
});

describe('a lock inside this process', () => {
  it('lets one in at a time, in the order they came, whatever happens to the one before', async () => {
    const mutex = createMutex();
    const first = gate();
    const log: string[] = [];
    const one = mutex(async () => {
      log.push('one in');
      await first.opened;
      log.push('one out');
    });
    const two = mutex(() => Promise.reject(new Error('two failed')));
    const three = mutex(async () => {
      log.push('three in');
      return 3;
    });
    await Promise.resolve();
    expect(log).toEqual(['one in']);
    first.open();
    await expect(two).rejects.toThrow('two failed');
    expect(await Promise.all([one, three])).toEqual([undefined, 3]);
    expect(log).toEqual(['one in', 'one out', 'three in']);
  });
});

describe('a lock across processes', () => {
  const options = { waitMs: 100, onTimeout: () => new OrchestratorError('TIMED_OUT', { what: 'the lock' }) };

  it('is waited for no longer than told, and free again after work that failed', async () => {
    const path = join(folder, 'x');
    const held = gate();
    const inside = gate();
    const holder = withFileLock(path, options, () => {
      inside.open();
      return held.opened;
    });
    await inside.opened;
    await expect(withFileLock(path, options, async () => undefined)).rejects.toMatchObject({
      code: 'TIMED_OUT',
    });
    held.open();
    await holder;
    await expect(withFileLock(path, options, () => Promise.reject(new Error('work failed')))).rejects.toThrow(
      'work failed',
    );
    expect(await withFileLock(path, options, async () => 'in')).toBe('in');
  });
});

describe('a watched folder', () => {
  it('tells the names that change in it, until it is let go', async () => {
    const seen = new Set<string>();
    const changed = gate();
    const stop = watchDirectory(
      folder,
      (name) => {
        seen.add(name);
        if (name === 'done.flag') changed.open();
      },
      (error) => {
        throw error;
      },
    );
    writeFileSync(join(folder, '.tmp'), 'x');
    renameSync(join(folder, '.tmp'), join(folder, 'done.flag'));
    await changed.opened;
    stop();
    expect([...seen].sort()).toEqual(['.tmp', 'done.flag']);
  });

  it('that is not there is said once, and letting go of it is fine', () => {
    const errors: Error[] = [];
    const stop = watchDirectory(
      join(folder, 'nothing'),
      () => undefined,
      (error) => errors.push(error),
    );
    stop();
    expect(errors).toMatchObject([{ code: 'ENOENT' }]);
  });
});
