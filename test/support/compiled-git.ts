import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import type { Sandbox } from './sandbox.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The git room as plain JavaScript in a folder of the sandbox, for tests that need it in another process. */
export function compileGitRoom(sandbox: Sandbox): string {
  const target = sandbox.folder('compiled');
  for (const folder of ['core', 'platform', 'git'])
    for (const name of readdirSync(join(ROOT, 'src', folder), { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.ts')) continue;
      const source = readFileSync(join(ROOT, 'src', folder, name), 'utf8');
      const options = {
        module: ts.ModuleKind.ESNext,
        target: ts.ScriptTarget.ES2022,
        verbatimModuleSyntax: true,
      };
      const file = join(target, 'src', folder, name.replace(/\.ts$/, '.js'));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, ts.transpileModule(source, { compilerOptions: options }).outputText);
    }
  writeFileSync(join(target, 'package.json'), '{"type":"module"}');
  symlinkSync(join(ROOT, 'node_modules'), join(target, 'node_modules'));
  return target;
}

/** Runs `body` (module code; `git` and `input` are there) in a node process of its own, in a process group of its own. */
export function startGitProcess(
  sandbox: Sandbox,
  compiled: string,
  options: { body: string; input?: unknown; env?: Record<string, string> },
): ChildProcess {
  const script = join(compiled, `script-${Math.random().toString(36).slice(2)}.mjs`);
  writeFileSync(
    script,
    `import { createGit } from './src/git/create-git.js';
import { systemClock } from './src/platform/clock.js';
const git = createGit({ env: process.env, clock: systemClock });
const input = JSON.parse(process.argv[2]);
${options.body}
`,
  );
  return spawn(process.execPath, [script, JSON.stringify(options.input ?? null)], {
    env: { ...sandbox.env, ...options.env },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
}

/** Everything it printed, when it ended with 0. */
export async function finished(child: ChildProcess): Promise<string> {
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error(`the process ended with ${String(code)}: ${output}`);
  return output;
}
