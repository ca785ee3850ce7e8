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
const COMPILERS = ['scripts/build.mjs', 'scripts/lib/bundle.mjs', 'tsconfig.json', 'tsconfig.modules.json'];
const COMPILE_LIMIT_MS = 120_000;
const KEPT_MS = 12 * 3_600_000;

type Emit = (target: string) => Promise<void>;

let compiled: Promise<string> | undefined;
let modules: Promise<string> | undefined;

/**
 * A package folder (`dist/`, `bin/`, `templates/`, `package.json`) compiled from the sources as they are now, for tests
 * that start processes of ours: `join(await compiledRoot(), 'bin/agentorchestr.cjs')`. Never changed once it exists, so
 * an edit in the middle of a run disturbs nobody; made once per state of the sources, whoever asks. Types are not
 * checked here.
 */
export function compiledRoot(): Promise<string> {
  compiled ??= compile('', bundled);
  return compiled;
}

/** The same with a file in `dist/` for each of `src/`, for tests that load one of them in another process. */
export function compiledModules(): Promise<string> {
  modules ??= compile('-modules', separate);
  return modules;
}

async function compile(suffix: string, emit: Emit): Promise<string> {
  const hash = sourcesHash();
  const root = join(CACHE, `${hash}${suffix}`);
  mkdirSync(CACHE, { recursive: true });
  const onTimeout = () =>
    new OrchestratorError('TIMED_OUT', { what: 'compiling', limit_ms: COMPILE_LIMIT_MS });
  try {
    await withFileLock(root, { waitMs: COMPILE_LIMIT_MS, onTimeout }, () => build(root, emit));
  } catch (error) {
    // Somebody may have been in the middle of an edit.
    if (sourcesHash() === hash) throw error;
    return compile(suffix, emit);
  }
  return root;
}

async function build(root: string, emit: Emit): Promise<void> {
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

function bundled(target: string): Promise<void> {
  return node('scripts/build.mjs', join(target, 'dist'));
}

function separate(target: string): Promise<void> {
  const tsc = 'node_modules/typescript/bin/tsc';
  return node(tsc, '-p', 'tsconfig.modules.json', '--noCheck', '--outDir', join(target, 'dist'));
}

async function node(...args: string[]): Promise<void> {
  const { exitCode, stdout, stderr } = await runProcess(process.execPath, args, {
    cwd: REPOSITORY,
    env: { PATH: process.env['PATH'] },
    timeoutMs: COMPILE_LIMIT_MS,
  });
  if (exitCode !== 0) throw new Error(`the sources do not compile:\n${stdout}${stderr}`);
}

function sourcesHash(): string {
  const hash = createHash('sha256');
  for (const name of ['src', ...COMPILERS, ...COPIED]) {
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
