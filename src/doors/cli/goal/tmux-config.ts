import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Resolved } from '../../../config/load.js';
import { OrchestratorError } from '../../../core/errors/error.js';
import type { CliHost } from '../host.js';
import { expandHome, folderOf } from './agent-options.js';

/** The person's own tmux settings for the panes, which nothing reads unless it is asked for. Throws FILE_NOT_READABLE. */
export async function readTmuxConfig(
  { value: given, origin }: Resolved,
  env: CliHost['env'],
): Promise<string | null> {
  if (typeof given !== 'string') return null;
  const path = resolve(folderOf(origin, '.'), expandHome(given, env));
  try {
    if (!(await stat(path)).isFile()) throw new Error('it is not a file');
    await access(path, constants.R_OK);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const problem = code === 'ENOENT' ? 'no such file' : message;
    throw new OrchestratorError('FILE_NOT_READABLE', {
      path,
      problem: `${problem} (${origin.where})`,
    });
  }
  return path;
}
