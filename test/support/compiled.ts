import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OrchestratorError } from '../../src/core/errors/error.js';
import { withFileLock } from '../../src/platform/locks.js';
import { runProcess } from '../../src/platform/process.js';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
/** Below node_modules, so that what is compiled finds its packages and git ignores it. */
const CACHE = join(REPOSITORY, 'node_modules/.cache/agentorchestr');
const COPIED = ['package.json', 'bin', 'templates', 'skills'];
const COMPILE_LIMIT_MS = 120_000;
const KEPT_MS = 12 * 3_600_000;

let compiled: Promise<string> | undefined;

/**
 * A package folder (`dist/`, `bin/`, `templates/`, `package.json`) compiled from the sources as they are now, for tests
 * that start processes of ours: `join(await compiledRoot(), 'bin/agentorchestr.cjs')`. Never changed once it exists, so
 * an edit in the middle of a run disturbs nobody; made once per state of the sources, whoever asks. Types are not
 * checked here.
 */
export function compiledRoot(): Promise<string> {
  compiled ??= compile();
  return compiled;
}

async function compile(): Promise<string> {
  const hash = sourcesHash();
  const root = join(CACHE, hash);
  mkdirSync(CACHE, { recursive: true });
  const onTimeout = () =>
    new OrchestratorError('TIMED_OUT', { what: 'compiling', limit_ms: COMPILE_LIMIT_MS });
  try {
    await withFileLock(root, { waitMs: COMPILE_LIMIT_MS, onTimeout }, () => build(root));
  } catch (error) {
    // Somebody may have been in the middle of an edit.
    if (sourcesHash() === hash) throw error;
    return compile();
  }
  return root;
}

async function build(root: string): Promise<void> {
  if (existsSync(root)) return;
  removeOld();
  const building = `${root}.building`;
  try {
    await emit(building);
    for (const name of COPIED.filter((entry) => existsSync(join(REPOSITORY, entry)))) {
      cpSync(join(REPOSITORY, name), join(building, name), { recursive: true });
    }
    renameSync(building, root);
  } finally {
    rmSync(building, { recursive: true, force: true });
  }
}

async function emit(target: string): Promise<void> {
  const tsc = join(REPOSITORY, 'node_modules/typescript/bin/tsc');
  const options = ['-p', 'tsconfig.build.json', '--noCheck', '--outDir', join(target, 'dist')];
  const unwanted = ['--incremental', 'false', '--tsBuildInfoFile', 'null'];
  const { exitCode, stdout } = await runProcess(process.execPath, [tsc, ...options, ...unwanted], {
    cwd: REPOSITORY,
    env: { PATH: process.env['PATH'] },
    timeoutMs: COMPILE_LIMIT_MS,
  });
  if (exitCode !== 0) throw new Error(`the sources do not compile:\n${stdout}`);
}

function sourcesHash(): string {
  const hash = createHash('sha256');
  for (const name of ['src', 'tsconfig.json', 'tsconfig.build.json', ...COPIED]) {
    for (const path of filesOf(join(REPOSITORY, name)))
      hash.update(path).update('\0').update(readFileSync(path)).update('\0');
  }
  return hash.digest('hex').slice(0, 16);
}

function filesOf(path: string): string[] {
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [path];
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesOf(join(path, name)));
}

function removeOld(): void {
  for (const name of readdirSync(CACHE)) {
    const path = join(CACHE, name);
    if (Date.now() - statSync(path).mtimeMs > KEPT_MS) rmSync(path, { recursive: true, force: true });
  }
}
