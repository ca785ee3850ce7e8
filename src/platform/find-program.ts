import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';

/** The first of `names` that PATH leads to, as an absolute path; an absolute name is taken as it is. null: none. */
export async function findProgram(
  names: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  // An empty or relative entry of PATH means the current folder, which must not decide what is run.
  const folders = (env['PATH'] ?? '').split(':').filter(isAbsolute);
  for (const name of names) {
    for (const path of isAbsolute(name) ? [name] : folders.map((folder) => join(folder, name))) {
      if (await isExecutableFile(path)) return path;
    }
  }
  return null;
}

export async function isExecutableFile(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
