import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { diskUse, filesBelow } from '../../../src/platform/disk.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'ao-disk-'));
  mkdirSync(join(root, 'a/b'), { recursive: true });
  writeFileSync(join(root, 'a/b/large'), Buffer.alloc(1_000_000, 1));
});
afterEach(() => rmSync(root, { recursive: true }));

describe('disk use', () => {
  it('counts what is below, a file with two names once, and follows no link', async () => {
    const { bytes } = await diskUse([root]);
    expect(bytes).toBeGreaterThanOrEqual(1_000_000);
    linkSync(join(root, 'a/b/large'), join(root, 'again'));
    symlinkSync('/usr', join(root, 'link'));
    expect((await diskUse([root, join(root, 'a')])).bytes).toBeLessThan(bytes + 100_000);
  });

  it('is nothing for what is not there, and says when it did not look at everything', async () => {
    expect(await diskUse([join(root, 'nowhere')])).toEqual({ bytes: 0, complete: true });
    expect(await diskUse([root], { mostEntries: 2 })).toMatchObject({ complete: false });
  });

  it('names files, links included, in order', async () => {
    symlinkSync('/usr', join(root, 'link'));
    expect(await filesBelow(root)).toEqual(['a/b/large', 'link']);
    expect(await filesBelow(join(root, 'nowhere'))).toEqual([]);
  });
});
