// Compiles src to dist: one .js for each .ts, as alike as a program without its types can be, so neither source maps nor
// declarations go with it. What else is in dist, but for the compiler's notes, is from an earlier build and is removed.
import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runLoudly } from './lib/steps.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const src = join(root, 'src');
const dist = join(root, 'dist');
const NOTES = '.tsbuildinfo';

process.exitCode = await runLoudly(['tsc', '-p', 'tsconfig.build.json']);
for (const path of await filesIn(dist)) {
  const compiled = path.endsWith('.js') && existsSync(join(src, path.replace(/[.]js$/, '.ts')));
  if (!compiled && path !== NOTES) await rm(join(dist, path));
}

async function filesIn(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}
