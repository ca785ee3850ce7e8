import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, resolve, sep } from 'node:path';
import { OrchestratorError } from '../core/errors/error.js';

/** The real path of a folder that is one of `roots` or below one. Throws INVALID_INPUT, FOLDER_NOT_ALLOWED. */
export async function folderWithin(path: string, roots: readonly string[]): Promise<string> {
  const invalid = (problem: string) => new OrchestratorError('INVALID_INPUT', { field: 'cwd', problem });
  if (!isAbsolute(path) || path.includes('\0')) throw invalid('it is not an absolute path');
  const realRoots = await Promise.all(roots.map((root) => realpath(root).catch(() => root)));
  const real = await realpath(path).catch(() => null);
  // Whether something is there is told only of places that are allowed.
  if (!realRoots.some((root) => isWithin(real ?? resolve(path), root)))
    throw new OrchestratorError('FOLDER_NOT_ALLOWED', { path, allowed: realRoots });
  if (real === null || !(await stat(real)).isDirectory()) throw invalid('there is no such folder');
  return real;
}

function isWithin(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}
