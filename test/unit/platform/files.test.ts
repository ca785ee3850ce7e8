import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type * as Paths from '../../../src/platform/paths.js';
import {
  appendLine,
  ensurePrivateDirectory,
  readTextFile,
  removeFile,
  removeTree,
  writeFileAtomic,
} from '../../../src/platform/files.js';

const user = vi.hoisted(() => ({ id: null as number | null }));
vi.mock('../../../src/platform/paths.js', async (original) => {
  const real = await original<typeof Paths>();
  return { ...real, currentUserId: () => user.id ?? real.currentUserId() };
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ao-files-'));
});
afterEach(() => {
  user.id = null;
  rmSync(folder, { recursive: true });
});

const at = (...names: string[]) => join(folder, ...names);
const mode = (path: string) => (lstatSync(path).mode & 0o777).toString(8);

describe('a private folder', () => {
  // What Node's own way takes for a folder that was just removed by somebody, again and again.
  it.runIf(process.platform === 'linux')('says so where the system makes no folders, and ends', async () => {
    await expect(ensurePrivateDirectory('/proc/nowhere/below')).rejects.toMatchObject({
      code: 'FOLDER_NOT_MADE',
    });
  });

  it('is made with its parents, for us alone', async () => {
    await ensurePrivateDirectory(at('a', 'b', 'c'));
    expect(['a', 'a/b', 'a/b/c'].map((path) => mode(at(path)))).toEqual(['700', '700', '700']);
  });

  it('is made for us alone whatever the mask says', async () => {
    const mask = process.umask(0);
    try {
      await ensurePrivateDirectory(at('open'));
      expect(mode(at('open'))).toBe('700');
    } finally {
      process.umask(mask);
    }
  });

  it('that is there is taken, its mode tightened, its content kept', async () => {
    mkdirSync(at('there'));
    chmodSync(at('there'), 0o755);
    writeFileSync(at('there', 'x'), 'x');
    await ensurePrivateDirectory(at('there'));
    await ensurePrivateDirectory(at('there'));
    expect([mode(at('there')), readdirSync(at('there'))]).toEqual(['700', ['x']]);
  });

  it.each<[string, () => void, RegExp]>([
    ['a symbolic link to a folder', () => symlinkSync(folder, at('x')), /symbolic link/],
    ['a symbolic link to nothing', () => symlinkSync('/nowhere', at('x')), /symbolic link/],
    ['a file', () => writeFileSync(at('x'), ''), /not a directory/],
  ])('is not %s', async (_what, plant, problem) => {
    plant();
    await expect(ensurePrivateDirectory(at('x'))).rejects.toMatchObject({
      code: 'UNSAFE_DIRECTORY',
      params: { path: at('x'), problem: expect.stringMatching(problem) as unknown },
    });
  });

  it('is not one that belongs to somebody else, and that one is left as it is', async () => {
    mkdirSync(at('theirs'));
    chmodSync(at('theirs'), 0o755);
    const owner = lstatSync(at('theirs')).uid;
    user.id = owner + 1;
    await expect(ensurePrivateDirectory(at('theirs'))).rejects.toMatchObject({
      code: 'UNSAFE_DIRECTORY',
      params: { path: at('theirs'), problem: `it belongs to user ${owner}` },
    });
    expect(mode(at('theirs'))).toBe('755');
  });

  it('cannot be made below a file', async () => {
    writeFileSync(at('file'), '');
    await expect(ensurePrivateDirectory(at('file', 'below'))).rejects.toMatchObject({
      code: 'FOLDER_NOT_MADE',
      params: { path: at('file', 'below') },
    });
  });
});

describe('a file written whole or not at all', () => {
  it('is private unless told, and nothing else is left', async () => {
    await writeFileAtomic(at('x'), 'text');
    await writeFileAtomic(at('run'), Buffer.from([0, 255]), 0o700);
    expect([mode(at('x')), mode(at('run')), readFileSync(at('run'))]).toEqual([
      '600',
      '700',
      Buffer.from([0, 255]),
    ]);
    expect(readdirSync(folder).sort()).toEqual(['run', 'x']);
  });

  it('takes the place of the old one, of a link too, never of what that points to', async () => {
    writeFileSync(at('target'), 'untouched');
    symlinkSync(at('target'), at('link'));
    await writeFileAtomic(at('link'), 'new');
    expect([readFileSync(at('target'), 'utf8'), readFileSync(at('link'), 'utf8')]).toEqual([
      'untouched',
      'new',
    ]);
    expect(lstatSync(at('link')).isSymbolicLink()).toBe(false);
  });

  it('is never seen half written, however many write at once', async () => {
    const texts = Array.from({ length: 20 }, (_, index) => String(index).repeat(50_000));
    let writing = true;
    const writes = Promise.all(texts.map((text) => writeFileAtomic(at('x'), text))).finally(
      () => (writing = false),
    );
    const seen = new Set<string>();
    while (writing) {
      const text = await readTextFile(at('x'));
      if (text !== null) seen.add(text);
    }
    await writes;
    expect([...seen].filter((text) => !texts.includes(text))).toEqual([]);
    expect(readdirSync(folder)).toEqual(['x']);
  });

  it('that cannot be put in its place leaves nothing behind', async () => {
    mkdirSync(at('taken', 'below'), { recursive: true });
    await expect(writeFileAtomic(at('taken'), 'text')).rejects.toThrow(/directory/);
    expect(readdirSync(folder)).toEqual(['taken']);
    await expect(writeFileAtomic(at('no', 'folder'), 'text')).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('the text of a file', () => {
  it('is null where there is none', async () => {
    expect(await readTextFile(at('x'))).toBeNull();
  });

  it('has no byte order mark', async () => {
    writeFileSync(at('x'), '\ufeffgrün\r\n');
    expect(await readTextFile(at('x'))).toBe('grün\r\n');
  });

  it.each<[string, () => void, string]>([
    [
      'bytes that are no text',
      () => writeFileSync(at('x'), Buffer.from([0xc3, 0x28])),
      'it is not valid UTF-8',
    ],
    ['a folder', () => mkdirSync(at('x')), 'EISDIR'],
  ])('is refused of %s', async (_what, plant, problem) => {
    plant();
    await expect(readTextFile(at('x'))).rejects.toMatchObject({
      code: 'FILE_NOT_READABLE',
      params: { path: at('x'), problem: expect.stringContaining(problem) as unknown },
    });
  });
});

describe('lines and removals', () => {
  it('lines are appended to a private file', async () => {
    await appendLine(at('log'), 'one');
    await appendLine(at('log'), 'two');
    expect([readFileSync(at('log'), 'utf8'), mode(at('log'))]).toEqual(['one\ntwo\n', '600']);
  });

  it('what is not there is removed already; a link goes, not what it points to', async () => {
    mkdirSync(at('kept'));
    writeFileSync(at('kept', 'x'), 'x');
    symlinkSync(at('kept'), at('link'));
    await removeFile(at('nothing'));
    await removeTree(at('nothing'));
    await removeTree(at('link'));
    expect(readdirSync(folder)).toEqual(['kept']);
    expect(statSync(at('kept', 'x')).size).toBe(1);
  });
});
