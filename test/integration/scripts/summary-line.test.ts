import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

const repository = resolve(import.meta.dirname, '../../..');
const IMPORTS = "import { beforeAll, describe, expect, it } from 'vitest';\n";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'summary-'));
  await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'));
  const reporter = join(repository, 'test/support/summary-reporter.ts');
  await writeFile(
    join(folder, 'vitest.config.mjs'),
    `import { SummaryReporter } from '${reporter}';\nexport default { test: { reporters: ['default', new SummaryReporter()] } };\n`,
  );
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

async function runTests(
  text: string,
  countsFile?: string,
): Promise<{ code: number | null; output: string; lastLine: string }> {
  await writeFile(join(folder, 'planted.test.mjs'), IMPORTS + text);
  const vitest = join(repository, 'node_modules/vitest/vitest.mjs');
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    ...(countsFile === undefined ? {} : { TEST_COUNTS_FILE: countsFile }),
  };
  const { status, stdout } = spawnSync(process.execPath, [vitest, 'run'], {
    cwd: folder,
    env,
    encoding: 'utf8',
    timeout: 50_000,
  });
  const output = stdout.trimEnd();
  return { code: status, output, lastLine: output.split('\n').at(-1) ?? '' };
}

it('ends a green run with the plain line', async () => {
  const text =
    "it('a', () => expect(1).toBe(1));\nit('b', () => expect(1).toBe(1));\nit.skip('c', () => {});\n";
  expect(await runTests(text)).toMatchObject({ code: 0, lastLine: '2 passed, 0 failed, 1 skipped' });
});

it('names a test that passed on its second try, and counts one that did not as failed', async () => {
  const text = `
    let n = 0;
    describe('a', () => { it('b', { retry: 1 }, () => expect(++n).toBe(2)); });
    it('c', { retry: 1 }, () => expect(1).toBe(2));
  `;
  const { code, output } = await runTests(text);
  expect(code).toBe(1);
  expect(output.split('\n').slice(-2)).toEqual([
    'passed on its second try: planted.test.mjs: a > b',
    '1 passed, 1 failed, 0 skipped',
  ]);
});

it('counts failed tests, hooks and unhandled rejections', async () => {
  const text = `
    it('a', () => expect(1).toBe(2));
    it('b', () => { void Promise.reject(new Error('nobody listens')); });
    describe('c', () => { beforeAll(() => { throw new Error('hook'); }); it('d', () => {}); });
  `;
  expect(await runTests(text)).toMatchObject({ code: 1, lastLine: '1 passed, 3 failed, 1 skipped' });
});

it('counts a file that cannot be loaded', async () => {
  expect(await runTests("import './nowhere.mjs';\n")).toMatchObject({
    code: 1,
    lastLine: '0 passed, 1 failed, 0 skipped',
  });
});

it('writes the counts to a file for the one who prints the last line of everything', async () => {
  const file = join(folder, 'counts.json');
  const text =
    "it('a', () => expect(1).toBe(1));\nlet n = 0;\nit('b', { retry: 1 }, () => expect(++n).toBe(2));\n";
  const { lastLine } = await runTests(text, file);
  expect(lastLine).not.toMatch(/passed,/);
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
    passed: 2,
    failed: 0,
    skipped: 0,
    flaky: ['planted.test.mjs: b'],
  });
});
