import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProcess } from '../../src/platform/process.js';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const LIMIT_MS = 240_000;
/** What `npm install` would compile for minutes; this checkout has it. */
const ADDON = 'node_modules/better-sqlite3/build';

export interface PackedFile {
  readonly path: string;
  readonly size: number;
  readonly mode: number;
}

export interface PackedPackage {
  readonly tarball: string;
  readonly files: readonly PackedFile[];
}

/** Builds, and packs into `folder` what `npm publish` would send. */
export async function packPackage(folder: string): Promise<PackedPackage> {
  await run(process.execPath, ['scripts/build.mjs'], {});
  const stdout = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {});
  const [packed] = JSON.parse(stdout) as [{ filename: string; files: PackedFile[] }];
  return { tarball: join(folder, packed.filename), files: packed.files };
}

/**
 * `npm install --global` into `prefix` for a user whose home is `home`, with the downloads of this machine's cache and
 * without running scripts: the compiled addon comes from this checkout. Returns the folder of the package.
 */
export async function installPackage(
  tarball: string,
  { prefix, home }: { prefix: string; home: string },
): Promise<string> {
  const cache = await run('npm', ['config', 'get', 'cache'], {});
  const quick = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
  const env = { HOME: home, npm_config_cache: cache.trim() };
  await run('npm', ['install', '--global', '--prefix', prefix, ...quick, tarball], env);
  const folder = join(prefix, 'lib/node_modules/agentorchestr');
  cpSync(join(REPOSITORY, ADDON), join(folder, ADDON), { recursive: true });
  return folder;
}

export function readManifest(folder = REPOSITORY): { version: string; bin: Record<string, string> } {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    version: string;
    bin: Record<string, string>;
  };
}

async function run(file: string, args: readonly string[], env: Record<string, string>): Promise<string> {
  const { exitCode, stdout, stderr } = await runProcess(file, args, {
    cwd: REPOSITORY,
    env: { ...process.env, ...env },
    timeoutMs: LIMIT_MS,
  });
  if (exitCode !== 0) throw new Error(`${file} ${args.join(' ')}: ${exitCode}\n${stdout}\n${stderr}`);
  return stdout;
}
