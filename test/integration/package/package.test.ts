import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { REPOSITORY } from '../../architecture/sources.js';
import { runProcess } from '../../../src/platform/process.js';
import { installPackage, packPackage, readManifest, type PackedPackage } from '../../support/package.js';
import { createSandbox, type Sandbox } from '../../support/sandbox.js';

/** For those who change the product, not for those who use it; and a picture, for those who look at the repository. */
const NOT_SHIPPED = /^(ARCHITECTURE|CONTRIBUTING)[.]md$|^docs\/(adr\/|demo[.]svg$)/;

const folder = mkdtempSync(join(tmpdir(), 'ao-package-'));
let packed: PackedPackage;
beforeAll(async () => {
  packed = await packPackage(folder);
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true }));

const paths = (below = '') => packed.files.map(({ path }) => path).filter((path) => path.startsWith(below));

describe('the package', () => {
  it('holds the compiled programs with the licences of what is in them, and nothing else that a compiler makes', () => {
    const compiled = paths('dist/');
    expect(compiled.filter((path) => !/^dist\/main\/[\w-]+[.]c?js$/.test(path))).toEqual([
      'dist/licenses.txt',
    ]);
    const started = readdirSync(join(REPOSITORY, 'bin')).flatMap((launcher) =>
      [...readFileSync(join(REPOSITORY, 'bin', launcher), 'utf8').matchAll(/dist\/main\/[\w-]+[.]c?js/g)].map(
        String,
      ),
    );
    expect(started.filter((path) => !compiled.includes(path))).toEqual([]);
  });

  it('holds launchers that may be run, templates, skills, guides, licence and notes, and no more', () => {
    const others = paths().filter((path) => !path.startsWith('dist/'));
    expect([...new Set(others.map((path) => path.replace(/[^/]+$/, '')))].sort()).toEqual([
      '',
      'bin/',
      'docs/guides/',
      'docs/reference/',
      'skills/agentctl/',
      'templates/demo/',
      'templates/demo/project/',
      'templates/demo/project/.agentorchestr/',
      'templates/demo/project/src/',
      'templates/demo/project/test/',
    ]);
    expect(others.filter((path) => !path.includes('/')).sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'package.json',
    ]);
    const launchers = packed.files.filter(({ path }) => path.startsWith('bin/'));
    expect(launchers.map(({ path }) => path)).toContain('bin/agentorchestr-hook.cjs');
    expect(launchers.filter(({ mode }) => (mode & 0o111) !== 0o111)).toEqual([]);
  });

  it('links in its documents only to what it holds', () => {
    const held = new Set(paths());
    const broken = paths()
      .filter((path) => path.endsWith('.md'))
      .flatMap((path) => linksOf(path).map((link) => ({ path, link })))
      .filter(({ link }) => !held.has(link) && !NOT_SHIPPED.test(link));
    expect(broken).toEqual([]);
  });

  it('is without fault for publint', async () => {
    const tarball = readFileSync(packed.tarball);
    const { messages } = await publint({ pack: { tarball: Uint8Array.from(tarball).buffer }, strict: true });
    expect(messages).toEqual([]);
  });
});

describe('the installed package', () => {
  let sandbox: Sandbox;
  let bin: string;
  let path: string;
  let installed: string;
  beforeAll(async () => {
    // A user who has nothing yet: an empty home, no folder of ours, a git that knows nobody.
    sandbox = createSandbox();
    const prefix = sandbox.folder('prefix');
    const agents = sandbox.folder('agents');
    writeFileSync(join(agents, 'claude'), '#!/bin/sh\necho "2.1.332 (Claude Code)"\n', { mode: 0o755 });
    path = [join(prefix, 'bin'), agents, sandbox.env['PATH']].join(':');
    bin = join(prefix, 'bin');
    installed = await installPackage(packed.tarball, { prefix, home: sandbox.home });
  }, 300_000);
  afterAll(() => sandbox.close());

  const run = (name: string, ...args: string[]) =>
    runProcess(join(bin, name), args, {
      cwd: sandbox.home,
      env: { ...sandbox.env, PATH: path },
      timeoutMs: 90_000,
    });

  it('has every program of its manifest, each with its version and its help', async () => {
    const { version, bin: programs } = readManifest();
    expect(readdirSync(bin).sort()).toEqual(Object.keys(programs).sort());
    for (const name of Object.keys(programs)) {
      expect(await run(name, '--version')).toMatchObject({ exitCode: 0, stdout: `${name} ${version}` });
      const { exitCode, stdout } = await run(name, '--help');
      expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining(name) as string });
    }
  });

  it('finds the agents of the machine, and examines it with the database of its own', async () => {
    const detected = await run('agentorchestr', '--detect', '--json');
    expect(JSON.parse(detected.stdout)).toMatchObject({
      agents: expect.arrayContaining([expect.objectContaining({ name: 'claude' })]) as unknown,
    });
    const { exitCode, stdout } = await run('agentorchestr', '--doctor', '--json');
    const { checks } = JSON.parse(stdout) as { checks: { name: string; state: string; found: string }[] };
    expect(checks.filter(({ state }) => state === 'failed')).toEqual([]);
    expect(checks).toContainEqual(expect.objectContaining({ name: 'database', state: 'ok' }));
    expect(exitCode).toBe(0);
  });

  it('says how the addon is compiled where it is missing, as it can be typed anywhere', async () => {
    const addon = join(installed, 'node_modules/better-sqlite3/build');
    renameSync(addon, `${addon}.away`);
    const { exitCode, stderr } = await run('agentorchestr', '--list-sessions');
    renameSync(`${addon}.away`, addon);
    expect(exitCode).not.toBe(0);
    expect(stderr).toMatch(/the SQLite addon cannot be loaded\n/);
    expect(stderr).toContain(`hint: run: npm --prefix ${installed} rebuild better-sqlite3`);
  });

  it('reaches a goal with the built-in agent and leaves nothing', async () => {
    const { exitCode, stdout } = await run('agentorchestr', 'demo', '--json', '--no-attach');
    expect(JSON.parse(stdout)).toMatchObject({ state: 'done', verify: { state: 'passed' } });
    expect(exitCode).toBe(0);
    expect(readdirSync(sandbox.temp)).toEqual([]);
  });
});

/** Paths within the repository that a document links to. */
function linksOf(document: string): string[] {
  return [...readFileSync(join(REPOSITORY, document), 'utf8').matchAll(/\]\(([^)#\s]+)(#[^)]*)?\)/g)]
    .map((match) => match[1] ?? '')
    .filter((link) => !link.includes(':'))
    .map((link) => normalize(join(dirname(document), link)));
}
