import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { linesFromEnd } from '../../../src/platform/tail.js';

const folder = mkdtempSync(join(tmpdir(), 'ao-tail-'));
afterAll(() => rmSync(folder, { recursive: true }));
const path = join(folder, 'file');
const LIMITS = { bytes: 10_000_000, lineBytes: 1_000_000 };

async function read(content: string | Buffer, limits = LIMITS): Promise<string[]> {
  writeFileSync(path, content);
  const lines: string[] = [];
  for await (const line of linesFromEnd(path, limits)) lines.push(line);
  return lines;
}

it.each([
  ['', []],
  ['\n\n', []],
  ['one', ['one']],
  ['one\ntwo\n', ['two', 'one']],
  ['one\n\ntwo\n{"half', ['{"half', 'two', 'one']],
  ['ä€😀\n😀', ['😀', 'ä€😀']],
])('%j is read from its end', async (content, lines) => expect(await read(content)).toEqual(lines));

it('lines are whole wherever the blocks are cut', async () => {
  const lines = Array.from({ length: 400 }, (_, index) => `${index} ${'€'.repeat((index * 97) % 1_500)}`);
  expect(await read(`${lines.join('\n')}\n`)).toEqual(lines.toReversed());
});

it('a line that is longer than the limit is left out, its neighbours are not', async () => {
  const limits = { bytes: 10_000_000, lineBytes: 100_000 };
  expect(await read(`before\n${'x'.repeat(300_000)}\nafter\n`, limits)).toEqual(['after', 'before']);
});

it('no more is read than the limit, and no part of a line is given for a line', async () => {
  expect(await read(`${'a'.repeat(500)}\n${'b'.repeat(500)}\n`, { ...LIMITS, bytes: 700 })).toEqual([
    'b'.repeat(500),
  ]);
});

it('what is not there, or is no file, has no lines', async () => {
  for (const name of [join(folder, 'none'), folder, '/dev/zero']) {
    const lines: string[] = [];
    for await (const line of linesFromEnd(name, LIMITS)) lines.push(line);
    expect(lines).toEqual([]);
  }
});
