import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { folderWithin } from '../../../src/platform/folders.js';

let top: string;
let root: string;
beforeAll(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'ao-folders-')));
  root = join(top, 'root');
  for (const name of ['root', 'root/below', 'root-beside']) mkdirSync(join(top, name));
  symlinkSync(join(top, 'root-beside'), join(root, 'out'));
  symlinkSync(join(root, 'below'), join(top, 'in'));
  writeFileSync(join(root, 'file'), '');
});
afterAll(() => rmSync(top, { recursive: true }));

describe('a folder within others', () => {
  it('is one of them or below one, by where it really is', async () => {
    expect(await folderWithin(root, [root])).toBe(root);
    expect(await folderWithin(join(root, 'below'), ['/nowhere', root])).toBe(join(root, 'below'));
    expect(await folderWithin(join(top, 'in'), [root])).toBe(join(root, 'below'));
  });

  it.each(['root/out', 'root-beside', 'root/..', '', 'root/../nowhere', 'root-nowhere'])(
    'is not "%s", whether it is there or not',
    async (path) => {
      await expect(folderWithin(`${top}/${path}`, [root])).rejects.toMatchObject({
        code: 'FOLDER_NOT_ALLOWED',
      });
    },
  );

  it('is a folder, absolute and there', async () => {
    for (const path of [join(root, 'file'), join(root, 'missing'), 'relative', `${root}/\0`])
      await expect(folderWithin(path, [root])).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });
});
