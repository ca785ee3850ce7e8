import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { compiledModules } from '../../support/compiled.js';

/** Packages that loading `file` loads, through every import that is left after compiling. */
function packagesOf(file: string, seen = new Set<string>()): Set<string> {
  const packages = new Set<string>();
  if (seen.has(file)) return packages;
  seen.add(file);
  for (const [, from = ''] of readFileSync(file, 'utf8').matchAll(
    /^(?:import|export) (?:.* from )?'([^']+)';$/gm,
  )) {
    if (from.startsWith('.'))
      for (const name of packagesOf(join(dirname(file), from), seen)) packages.add(name);
    else if (!from.startsWith('node:')) packages.add(from);
  }
  return packages;
}

it('the read-only store loads SQLite alone; only the writing one loads the schema library', async () => {
  const store = join(await compiledModules(), 'dist/store');
  expect([...packagesOf(join(store, 'open-read-only.js'))]).toEqual(['better-sqlite3']);
  expect([...packagesOf(join(store, 'open-store.js'))].sort()).toEqual(['better-sqlite3', 'zod']);
});
