// Compiles src to dist. Files in dist whose source is gone are removed.
import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runLoudly } from './lib/steps.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const src = join(root, 'src');
const dist = join(root, 'dist');
const COMPILED = /[.](js|js[.]map|d[.]ts)$/;

process.exitCode = await runLoudly(['tsc', '-p', 'tsconfig.build.json']);
for (const path of await filesIn(dist)) {
  if (COMPILED.test(path) && !existsSync(join(src, path.replace(COMPILED, '.ts'))))
    await rm(join(dist, path));
}

async function filesIn(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}
