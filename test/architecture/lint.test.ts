import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { REPOSITORY } from './sources.js';

/** One mistake per file, and the rule that must report it. */
const PLANTED: readonly { rule: string; text: string }[] = [
  {
    rule: 'typescript(no-floating-promises)',
    text: "import { rm } from 'node:fs/promises';\nexport const f = () => { rm('x'); };",
  },
  {
    rule: 'typescript(no-misused-promises)',
    text: 'export const f = () => [1].forEach(async (n) => { await Promise.resolve(n); });',
  },
  { rule: 'typescript(await-thenable)', text: 'export const f = async () => { await 1; };' },
  {
    rule: 'typescript(return-await)',
    text: 'export async function f(p: Promise<number>) { try { return p; } catch { return 0; } }',
  },
  {
    rule: 'typescript(switch-exhaustiveness-check)',
    text: "export function f(k: 'a' | 'b') { switch (k) { case 'a': return 1; } return 2; }",
  },
  { rule: 'typescript(no-explicit-any)', text: 'export const f = (x: any) => typeof x;' },
  { rule: 'typescript(no-unsafe-assignment)', text: "export const x: number = JSON.parse('1');" },
  { rule: 'typescript(no-unsafe-return)', text: "export const f = (): number => JSON.parse('1');" },
  { rule: 'typescript(only-throw-error)', text: "export const f = () => { throw 'text'; };" },
  {
    rule: 'typescript(consistent-type-imports)',
    text: "import { Stats } from 'node:fs';\nexport const f = (s: Stats) => s.size;",
  },
  { rule: 'import(no-default-export)', text: 'export default function f() { return 1; }' },
  { rule: 'eslint(no-console)', text: "console.log('x');\nexport {};" },
  { rule: 'eslint(eqeqeq)', text: 'export const f = (a: number | null) => a == 1;' },
];

const COMPILER = {
  strict: true,
  module: 'NodeNext',
  target: 'ES2023',
  lib: ['ES2023'],
  types: ['node'],
  skipLibCheck: true,
  noEmit: true,
};

let folder: string;
let reported: string;

const fileOf = (rule: string): string => `src/core/${rule.replace(/\W+/g, '-')}x.ts`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lint-'));
  await symlink(join(REPOSITORY, 'node_modules'), join(folder, 'node_modules'));
  // The overrides of the configuration are relative to the folder it stands in.
  await copyFile(join(REPOSITORY, '.oxlintrc.json'), join(folder, '.oxlintrc.json'));
  await plant('package.json', JSON.stringify({ type: 'module' }));
  await plant('tsconfig.json', JSON.stringify({ compilerOptions: COMPILER, include: ['src'] }));
  for (const { rule, text } of PLANTED) await plant(fileOf(rule), `${text}\n`);
  await plant('src/doors/cli/output/print.ts', "console.log('x');\nexport {};\n");
  const oxlint = join(REPOSITORY, 'node_modules/.bin/oxlint');
  const run = promisify(execFile)(oxlint, ['-f', 'unix', 'src'], { cwd: folder, timeout: 60_000 });
  reported = (await run.catch((error: { stdout: string }) => error)).stdout;
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function plant(file: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, file)), { recursive: true });
  await writeFile(join(folder, file), text);
}

it.each(PLANTED)('lint reports $rule', ({ rule }) => {
  const lines = reported.split('\n').filter((line) => line.includes(fileOf(rule)));
  expect(lines.join('\n')).toContain(`Error/${rule}`);
});

it('lint lets the output of the command line print', () => {
  expect(reported).not.toContain('print.ts');
});
