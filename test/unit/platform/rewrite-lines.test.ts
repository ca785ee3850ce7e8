import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { rewriteLines } from '../../../src/platform/rewrite-lines.js';

const folder = mkdtempSync(join(tmpdir(), 'ao-rewrite-'));
const path = join(folder, 'file');
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('changes what is told to be changed, across blocks, and no other byte', async () => {
  const line = Buffer.concat([Buffer.from([0xff, 0xfe, 0x0d]), Buffer.from('ä secret\r\n'.repeat(20_000))]);
  writeFileSync(path, Buffer.concat([line, Buffer.from('no end of line, secret')]), { mode: 0o600 });
  await rewriteLines(path, (text) => text.replaceAll('secret', 'x'));
  const wanted = Buffer.from(
    line.toString('latin1').replaceAll('secret', 'x') + 'no end of line, x',
    'latin1',
  );
  expect(readFileSync(path).equals(wanted)).toBe(true);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const { ino } = statSync(path);
  await rewriteLines(path, (text) => text);
  await rewriteLines(join(folder, 'absent'), () => 'x');
  expect(statSync(path).ino).toBe(ino);
  expect(readdirSync(folder)).toEqual(['file']);
});
