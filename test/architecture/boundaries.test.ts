import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';

const repository = resolve(import.meta.dirname, '../..');

/** What each planted import must be reported as. The file is made with this one import in it. */
const PLANTED: readonly { file: string; imports: string; rules: readonly string[] }[] = [
  { file: 'core/a.ts', imports: '../platform/target.js', rules: ['core-imports-core-only'] },
  { file: 'core/b.ts', imports: 'node:fs', rules: ['core-has-no-io'] },
  { file: 'core/c.ts', imports: 'uuid', rules: ['one-home-for-uuid', 'pure-rings-import-zod-only'] },
  { file: 'platform/a.ts', imports: '../services/target.js', rules: ['platform-imports-core-only'] },
  { file: 'platform/b.ts', imports: 'execa', rules: ['one-home-for-execa'] },
  { file: 'platform/c.ts', imports: 'pino', rules: ['one-home-for-pino'] },
  { file: 'platform/d.ts', imports: 'proper-lockfile', rules: ['one-home-for-proper-lockfile'] },
  { file: 'config/a.ts', imports: '../store/contract.js', rules: ['config-imports-core-and-platform-only'] },
  { file: 'agents/a.ts', imports: '../platform/target.js', rules: ['agents-import-core-only'] },
  { file: 'agents/b.ts', imports: 'node:fs', rules: ['agents-have-no-io'] },
  { file: 'git/a.ts', imports: '../store/target.js', rules: ['room-imports-downwards'] },
  { file: 'git/b.ts', imports: '../agents/registry.js', rules: ['room-imports-downwards'] },
  { file: 'git/c.ts', imports: '../services/target.js', rules: ['room-imports-downwards'] },
  {
    file: 'git/salvage-contract.ts',
    imports: '../store/target.js',
    rules: ['contract-imports-downwards', 'room-imports-downwards'],
  },
  { file: 'git/d.ts', imports: 'better-sqlite3', rules: ['one-home-for-better-sqlite3'] },
  { file: 'backends/tmux/a.ts', imports: '../acp/target.js', rules: ['room-imports-downwards'] },
  {
    file: 'queue/contract.ts',
    imports: '../store/target.js',
    rules: ['contract-imports-downwards', 'room-imports-downwards'],
  },
  { file: 'scripted/a.ts', imports: '../doors/mcp/target.js', rules: ['room-imports-downwards'] },
  { file: 'services/a.ts', imports: '../git/target.js', rules: ['services-see-contracts-only'] },
  { file: 'services/b.ts', imports: 'node:child_process', rules: ['services-have-no-io'] },
  {
    file: 'services/c.ts',
    imports: '@modelcontextprotocol/sdk/types.js',
    rules: ['one-home-for-modelcontextprotocol-sdk', 'pure-rings-import-zod-only'],
  },
  { file: 'doors/cli/a.ts', imports: '../mcp/target.js', rules: ['door-imports-downwards'] },
  { file: 'doors/cli/b.ts', imports: '../../git/contract.js', rules: ['door-imports-downwards'] },
  { file: 'doors/mcp/c.ts', imports: 'yargs', rules: ['one-home-for-yargs'] },
  { file: 'doors/rest/c.ts', imports: 'fastify', rules: ['one-home-for-fastify'] },
  { file: 'doors/rest/d.ts', imports: '@fastify/swagger', rules: ['one-home-for-fastify-swagger'] },
  { file: 'doors/rest/e.ts', imports: '@fastify/swagger-ui', rules: ['one-home-for-fastify-swagger-ui'] },
  { file: 'doors/rest/f.ts', imports: '@fastify/websocket', rules: ['one-home-for-fastify-websocket'] },
  { file: 'doors/rest/a.ts', imports: 'yaml', rules: ['one-home-for-yaml'] },
  { file: 'doors/rest/b.ts', imports: 'smol-toml', rules: ['one-home-for-smol-toml'] },
  {
    file: 'services/d.ts',
    imports: '../main/target.js',
    rules: ['main-is-on-top', 'services-see-contracts-only'],
  },
  { file: 'utils/a.ts', imports: '../core/target.js', rules: ['every-folder-has-a-ring'] },
  { file: 'store/a.ts', imports: 'fast-check', rules: ['package-without-a-home'] },
  { file: 'store/b.ts', imports: './nowhere.js', rules: ['not-resolvable'] },
  { file: 'store/c.ts', imports: './d.js', rules: ['no-cycles'] },
];

/** Imports that the rules must let pass. */
const ALLOWED: readonly { file: string; imports: string }[] = [
  { file: 'core/target.ts', imports: 'zod' },
  { file: 'platform/target.ts', imports: '../core/target.js' },
  { file: 'platform/process.ts', imports: 'execa' },
  { file: 'platform/watch.ts', imports: 'node:fs' },
  { file: 'agents/registry.ts', imports: '../core/target.js' },
  { file: 'agents/contract.ts', imports: '../core/target.js' },
  { file: 'agents/located.ts', imports: 'node:url' },
  { file: 'store/contract.ts', imports: '../core/target.js' },
  { file: 'git/contract.ts', imports: '../store/contract.js' },
  { file: 'store/target.ts', imports: 'better-sqlite3' },
  { file: 'git/target.ts', imports: '../store/contract.js' },
  { file: 'git/own.ts', imports: './target.js' },
  { file: 'backends/contract.ts', imports: '../agents/contract.js' },
  { file: 'backends/tmux/target.ts', imports: '../contract.js' },
  { file: 'backends/acp/target.ts', imports: '../../platform/target.js' },
  { file: 'services/target.ts', imports: '../git/contract.js' },
  { file: 'services/pick.ts', imports: '../agents/registry.js' },
  { file: 'services/folders.ts', imports: 'node:path' },
  { file: 'doors/shared/target.ts', imports: '../../core/target.js' },
  { file: 'doors/mcp/target.ts', imports: '../shared/target.js' },
  { file: 'doors/cli/target.ts', imports: '../../services/target.js' },
  { file: 'main/target.ts', imports: '../git/target.js' },
  { file: 'scripted/target.ts', imports: 'yaml' },
];

let tree: string;
let reported: Set<string>;

beforeAll(async () => {
  tree = await mkdtemp(join(tmpdir(), 'boundaries-'));
  await symlink(join(repository, 'node_modules'), join(tree, 'node_modules'));
  // The second leg of the planted cycle is a type: those count too.
  await plant('store/d.ts', "import type * as c from './c.js';\nexport type C = typeof c;\n");
  for (const { file, imports } of [...PLANTED, ...ALLOWED])
    await plant(file, `import * as it from '${imports}';\nexport const used = it;\n`);
  const script = join(repository, 'scripts/boundaries.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [script, tree], {
    cwd: repository,
    timeout: 60_000,
  }).catch((error: { stdout: string }) => error);
  reported = new Set(stdout.split('\n').map((line) => line.split(' → ')[0] ?? ''));
});

afterAll(async () => {
  await rm(tree, { recursive: true });
});

async function plant(file: string, text: string): Promise<void> {
  const path = join(tree, 'src', file);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

const reportedFor = (file: string): string[] =>
  [...reported]
    .filter((line) => line.endsWith(`: src/${file}`))
    .map((line) => line.split(':')[0] ?? '')
    .sort();

it.each(PLANTED)('reports $file importing $imports', ({ file, rules }) => {
  expect(reportedFor(file)).toEqual([...rules].sort());
});

it.each(ALLOWED)('lets $file import $imports', ({ file }) => {
  expect(reportedFor(file)).toEqual([]);
});

it('fails when it sees fewer modules than the product has, as with a TypeScript it cannot load', async () => {
  const script = join(repository, 'scripts/boundaries.mjs');
  const run = promisify(execFile)(process.execPath, [script, tree, '--least', '10000'], {
    cwd: repository,
    timeout: 60_000,
  });
  await expect(run).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringContaining('modules of src were seen, at least 10000 expected') as string,
  });
});
