import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OrchestratorError } from '../../../src/core/errors/error.js';
import { ownIdentity } from '../../../src/platform/identity.js';
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

describe('a lock whose holder was killed', () => {
  const options = {
    waitMs: 5_000,
    onTimeout: () => new OrchestratorError('TIMED_OUT', { what: 'the lock' }),
  };
  const self = ownIdentity();
  const here = '/proc/self/ns/pid';
  const pidSpace = existsSync(here) ? readlinkSync(here) : '';
  const hold = (path: string, holder: object) => {
    mkdirSync(`${path}.lock`);
    writeFileSync(`${path}.lock.owner`, JSON.stringify({ ...self, pidSpace, ...holder }));
  };

  it('is free at once, for one of those who wait at a time', async () => {
    const path = join(folder, 'killed');
    hold(path, { pidStartedAt: 'never' });
    let inside = 0;
    const most = await Promise.all(
      Array.from({ length: 5 }, () =>
        withFileLock(path, options, async () => {
          inside += 1;
          const now = inside;
          await new Promise((resolve) => setImmediate(resolve));
          inside -= 1;
          return now;
        }),
      ),
    );
    expect(most).toEqual([1, 1, 1, 1, 1]);
    expect(readdirSync(folder).filter((name) => name.startsWith('killed'))).toEqual([]);
  });

  it.each([
    ['lives', {}],
    ['is on another machine', { pidStartedAt: 'never', bootId: 'other' }],
    ['is in another container', { pidStartedAt: 'never', pidSpace: 'other' }],
  ])('is left alone where the holder %s', async (what, holder) => {
    const path = join(folder, what);
    hold(path, holder);
    await expect(
      withFileLock(path, { ...options, waitMs: 100 }, async () => undefined),
    ).rejects.toMatchObject({ code: 'TIMED_OUT' });
  });

  it('is left alone where it is younger than the name of the dead one beside it', async () => {
    const path = join(folder, 'younger');
    hold(path, { pidStartedAt: 'never' });
    const old = Date.now() / 1_000 - 40;
    utimesSync(`${path}.lock.owner`, old, old);
    await expect(
      withFileLock(path, { ...options, waitMs: 100 }, async () => undefined),
    ).rejects.toMatchObject({ code: 'TIMED_OUT' });
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
