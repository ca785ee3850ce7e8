import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { GrowingFile } from '../../../src/platform/growing-file.js';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ao-grow-'));
  path = join(folder, 'out');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function read(file: GrowingFile, toEnd = false): Promise<(string | null)[]> {
  const lines: (string | null)[] = [];
  await file.read((line) => lines.push(line), { toEnd });
  return lines;
}

it('gives nothing of a file that is not there yet, nor of half a line', async () => {
  const file = new GrowingFile(path, 1_000);
  expect(await read(file)).toEqual([]);
  appendFileSync(path, 'one\ntw');
  expect(await read(file)).toEqual(['one']);
  appendFileSync(path, 'o\n\nthree');
  expect(await read(file)).toEqual(['two', '']);
  expect(await read(file, true)).toEqual(['three']);
  expect(await read(file, true)).toEqual([]);
});

it('never cuts a character, wherever the writes and blocks end', async () => {
  const text = '日本🎉é'.repeat(20_000);
  const bytes = Buffer.from(`${text}\n`);
  const file = new GrowingFile(path, 10_000_000);
  const got: (string | null)[] = [];
  for (let at = 0; at < bytes.length; at += 65_537) {
    appendFileSync(path, bytes.subarray(at, at + 65_537));
    got.push(...(await read(file)));
  }
  expect(got).toEqual([text]);
});

it('passes over a line that is too long, and goes on after it', async () => {
  appendFileSync(path, `${'x'.repeat(200_000)}\nnext\n`);
  expect(await read(new GrowingFile(path, 100_000))).toEqual([null, 'next']);
});

it('gives each line once to readers that come at the same time', async () => {
  appendFileSync(path, 'a\nb\nc\n');
  const file = new GrowingFile(path, 100);
  expect((await Promise.all([read(file), read(file), read(file)])).flat()).toEqual(['a', 'b', 'c']);
});
