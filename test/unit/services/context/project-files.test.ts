import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freezeCommands } from '../../../../src/services/context/freeze-commands.js';
import {
  detectVerifyCommands,
  parseProjectCommands,
  projectFile,
  projectPreamble,
} from '../../../../src/services/context/project-files.js';

let project: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'ao-project-'));
});
afterEach(() => rmSync(project, { recursive: true }));

function write(files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(project, name)), { recursive: true });
    writeFileSync(join(project, name), content);
  }
}

const commands = (text: string) => {
  const { verify, setup } = parseProjectCommands(text, 'PROJECT.md');
  const shown = (list: typeof verify) => list.map(({ label, command }) => `${label}=${command}`);
  return { verify: shown(verify), setup: shown(setup) };
};

describe('the lists of PROJECT.md', () => {
  it.each<[string, string, { verify: string[]; setup: string[] }]>([
    ['nothing', '', { verify: [], setup: [] }],
    ['no list', '# How to verify\nRun the tests: npm test.\n', { verify: [], setup: [] }],
    [
      'both sections',
      '# Project\n## How to set up\n- install: npm ci\n## How to verify\n- test: npm test\n- lint: npm run lint\n',
      { verify: ['test=npm test', 'lint=npm run lint'], setup: ['install=npm ci'] },
    ],
    ['backticks', '## How to verify\n- test: `npm test`\n', { verify: ['test=npm test'], setup: [] }],
    [
      'backticks inside the command stay',
      '## How to verify\n- test: echo `date` > x\n',
      { verify: ['test=echo `date` > x'], setup: [] },
    ],
    [
      'stars and indentation',
      '## How to verify\n   *  test:   npm test  \n',
      { verify: ['test=npm test'], setup: [] },
    ],
    ['any case and level', '#### HOW TO VERIFY ####\n- test: x\n', { verify: ['test=x'], setup: [] }],
    [
      'Windows line ends',
      '## How to verify\r\n- test: npm test\r\n',
      { verify: ['test=npm test'], setup: [] },
    ],
    [
      'placeholders are no commands',
      '## How to verify\n- test: {{test command}}\n',
      { verify: [], setup: [] },
    ],
    [
      'nor are those in backticks',
      '## How to verify\n- test: `{{test command}}`\n',
      { verify: [], setup: [] },
    ],
    [
      'a command with a colon',
      '## How to verify\n- test: npm run test:unit\n',
      { verify: ['test=npm run test:unit'], setup: [] },
    ],
    [
      'a label of several words',
      '## How to verify\n- unit tests: x\n',
      { verify: ['unit tests=x'], setup: [] },
    ],
    [
      'the section ends at the next heading',
      '## How to verify\n- test: x\n## Notes\n- note: not a command\n',
      { verify: ['test=x'], setup: [] },
    ],
    ['items without a label', '## How to verify\n- npm test\n- : x\n- test:x\n', { verify: [], setup: [] }],
    ['another section of that kind', '## How to verify it by hand\n- test: x\n', { verify: [], setup: [] }],
    ['an empty command', '## How to verify\n- test:\n- lint:   \n', { verify: [], setup: [] }],
  ])('%s', (_what, text, expected) => {
    expect(commands(text)).toEqual(expected);
  });

  it('name the file that they come from', () => {
    expect(parseProjectCommands('## How to verify\n- test: x', 'PROJECT.md').verify).toEqual([
      { label: 'test', command: 'x', source: 'PROJECT.md' },
    ]);
  });
});

describe('the preamble', () => {
  it('is empty for a project that says nothing', async () => {
    expect(await projectPreamble(project)).toBe('');
  });

  it('is PROJECT.md, then CONVENTIONS.md', async () => {
    write({ 'CONVENTIONS.md': 'tabs\n', '.agentorchestr/PROJECT.md': '\n# Ours\n\n' });
    expect(await projectPreamble(project)).toBe('# Ours\n\ntabs');
  });

  it('prefers the copy at the top', async () => {
    write({ 'PROJECT.md': 'top', '.agentorchestr/PROJECT.md': 'below' });
    expect(await projectPreamble(project)).toBe('top');
    expect((await projectFile(project, 'PROJECT.md'))?.path).toBe(join(project, 'PROJECT.md'));
  });

  it('cuts each file at 4000 characters, visibly', async () => {
    write({ 'PROJECT.md': 'x'.repeat(4_000), 'CONVENTIONS.md': 'y'.repeat(4_001) });
    expect(await projectPreamble(project)).toBe(`${'x'.repeat(4_000)}\n\n${'y'.repeat(4_000)}\n[truncated]`);
  });

  it('says which file is no text', async () => {
    write({ 'PROJECT.md': new Uint8Array([0xff, 0xfe]) });
    await expect(projectPreamble(project)).rejects.toMatchObject({
      code: 'FILE_NOT_READABLE',
      params: { path: join(project, 'PROJECT.md'), problem: 'it is not valid UTF-8' },
    });
  });
});

describe('what a project most likely verifies with', () => {
  it.each<[string, Record<string, string>, string[]]>([
    ['nothing known', { 'README.md': 'x' }, []],
    ['npm', { 'package.json': '{"scripts":{"test":"vitest run"}}' }, ['package.json: npm test']],
    ['npm without a test', { 'package.json': '{"scripts":{"build":"tsc"}}' }, []],
    [
      'what npm init writes',
      { 'package.json': '{"scripts":{"test":"echo \\"Error: no test specified\\" && exit 1"}}' },
      [],
    ],
    ['a broken package.json', { 'package.json': '{' }, []],
    ['an odd package.json', { 'package.json': '{"scripts":["test"]}' }, []],
    ['Rust', { 'Cargo.toml': '[package]' }, ['Cargo.toml: cargo test']],
    ['Go', { 'go.mod': 'module x' }, ['go.mod: go test ./...']],
    ['Python', { 'pyproject.toml': '[project]' }, ['pyproject.toml: python3 -m pytest -q']],
    ['make', { Makefile: 'all:\n\techo\ntest: all\n\t./t\n' }, ['Makefile: make test']],
    ['make without a test', { Makefile: 'all:\n\techo test:\nintegration-test:\n' }, []],
    ['the first of several', { Makefile: 'test:\n', 'go.mod': '' }, ['go.mod: go test ./...']],
  ])('%s', async (_what, files, expected) => {
    write(files);
    const found = await detectVerifyCommands(project, () => false);
    expect(found.map(({ source, command }) => `${source}: ${command}`)).toEqual(expected);
  });

  it('is a guess that package.json settles, if only by having no test', async () => {
    write({ 'package.json': 'null', Makefile: 'test:\n' });
    expect(await detectVerifyCommands(project, () => false)).toEqual([]);
  });
});

describe('the commands of a session', () => {
  const PROJECT = '## How to set up\n- deps: npm ci\n## How to verify\n- test: npm test\n';
  const setup = { label: 'deps', command: 'npm ci', source: 'PROJECT.md' };
  const listed = { label: 'test', command: 'npm test', source: 'PROJECT.md' };

  it('are the project’s own list, whatever else was given', async () => {
    write({ 'PROJECT.md': PROJECT });
    expect(await freezeCommands(project, ['make check'])).toEqual({
      verify: [listed],
      setup: [setup],
      fromFiles: [setup, listed],
      givenUnused: true,
    });
  });

  it('are what was given, which needs no consent, beside a set-up that does', async () => {
    write({ 'PROJECT.md': '## How to set up\n- deps: npm ci\n', Makefile: 'test:\n' });
    expect(await freezeCommands(project, ['make check', 'make lint'])).toEqual({
      verify: [
        { label: 'verify 1', command: 'make check', source: '--verify' },
        { label: 'verify 2', command: 'make lint', source: '--verify' },
      ],
      setup: [setup],
      fromFiles: [setup],
      givenUnused: false,
    });
  });

  it('are not guessed by a file that agents will not have', async () => {
    write({ 'package.json': '{"scripts":{"test":"node --test"}}', Makefile: 'test:\n' });
    const { verify } = await freezeCommands(project, [], { isLeftOut: (file) => file === 'package.json' });
    expect(verify.map(({ source }) => source)).toEqual(['Makefile']);
  });

  it('are guessed where nothing says them', async () => {
    write({ Makefile: 'test:\n' });
    const guessed = { label: 'test', command: 'make test', source: 'Makefile' };
    expect(await freezeCommands(project, [])).toEqual({
      verify: [guessed],
      setup: [],
      fromFiles: [guessed],
      givenUnused: false,
    });
  });
});
