import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../../src/platform/clock.js';
import { followLog, lastLines } from '../../../src/platform/follow-log.js';
import { LogFile, logFilesOf } from '../../../src/platform/log-file.js';
import { compiledModules } from '../../support/compiled.js';

const root = mkdtempSync(join(tmpdir(), 'ao-log-'));
let path = '';
let number = 0;
beforeEach(() => {
  const folder = join(root, String(number++));
  mkdirSync(folder);
  path = join(folder, 'x.log');
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const line = (of: string, index: number) => `${of} ${index} ${'ü'.repeat(index % 40)} end`;
const linesIn = (file: string) => readFileSync(file, 'utf8').split('\n').slice(0, -1);
/** Oldest first. */
const all = () => logFilesOf(path).toReversed().flatMap(linesIn);

it('keeps a bounded number of files of a bounded size, and in them the newest lines, each whole', async () => {
  const log = new LogFile(path, { bytes: 1_000, kept: 3 });
  const lines = Array.from({ length: 500 }, (_, index) => line('a', index));
  for (const one of lines) log.write(`${one}\n`);
  log.write(`${'x'.repeat(5_000)}\n`);
  log.write('last\n');
  log.close();
  expect(readdirSync(join(path, '..')).toSorted()).toEqual(['x.log', 'x.log.1', 'x.log.2', 'x.log.3']);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const [written, longOne, ...others] = logFilesOf(path).map((file) => statSync(file).size);
  expect([written, longOne]).toEqual([5, 5_001]);
  expect(Math.max(...others)).toBeLessThanOrEqual(1_000);
  const kept = all();
  expect(kept.slice(-2)).toEqual(['x'.repeat(5_000), 'last']);
  expect(kept.slice(0, -2)).toEqual(lines.slice(-(kept.length - 2)));
  expect(await lastLines(path, 7)).toEqual(kept.slice(-7));
});

it('goes on in the file of that name when somebody else has put it aside or moved it', () => {
  const log = new LogFile(path, { bytes: 100_000, kept: 3 });
  log.write('one\n');
  rmSync(path);
  log.write('two\n');
  appendFileSync(`${path}.other`, 'before\n');
  log.moveTo(`${path}.other`);
  log.write('three\n');
  log.close();
  expect(linesIn(`${path}.other`)).toEqual(['before', 'two', 'three']);
  expect(readdirSync(join(path, '..'))).toEqual(['x.log.other']);
});

it(
  'loses and cuts no line of several processes that write and put aside the same log',
  { timeout: 120_000 },
  async () => {
    const module = pathToFileURL(join(await compiledModules(), 'dist/platform/log-file.js')).href;
    const program = `
    import { LogFile } from ${JSON.stringify(module)};
    const log = new LogFile(${JSON.stringify(path)}, { bytes: 1500, kept: 100 });
    for (let index = 0; index < 400; index++)
      log.write(process.argv[1] + ' ' + index + ' ' + 'ü'.repeat(index % 40) + ' end\\n');`;
    const writers = ['a', 'b', 'c'];
    await Promise.all(
      writers.map(async (name) => {
        const child = spawn(process.execPath, ['--input-type=module', '-e', program, name], {
          stdio: 'inherit',
        });
        expect(await once(child, 'exit')).toEqual([0, null]);
      }),
    );
    const files = readdirSync(join(path, '..'));
    expect(files.length).toBeGreaterThan(3);
    const found = files.flatMap((file) => linesIn(join(path, '..', file)));
    const wanted = writers.flatMap((name) => Array.from({ length: 400 }, (_, index) => line(name, index)));
    expect(found.toSorted()).toEqual(wanted.toSorted());
  },
);

it('is followed across any number of files, each line once and in order, after the last ones that were there', async () => {
  const log = new LogFile(path, { bytes: 2_000, kept: 90 });
  const write = (from: number, to: number) => {
    for (let index = from; index < to; index++) log.write(`${line('a', index)}\n`);
  };
  write(0, 100);
  const given: string[] = [];
  const over = new AbortController();
  const options = { onLine: (one: string) => void given.push(one), signal: over.signal, clock: systemClock };
  const followed = followLog(path, 5, options);
  await expect.poll(() => given.length).toBe(5);
  // A burst that nobody can have read in between, and then one line after the other.
  write(100, 1_000);
  await expect.poll(() => given.length, { timeout: 30_000 }).toBe(905);
  for (let index = 1_000; index < 1_200; index++) {
    write(index, index + 1);
    if (index % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await expect.poll(() => given.length, { timeout: 30_000 }).toBe(1_105);
  over.abort();
  await followed;
  log.close();
  expect(given).toEqual(Array.from({ length: 1_105 }, (_, index) => line('a', index + 95)));
});
