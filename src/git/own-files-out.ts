import { lstat, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The ignore file of ours; it ignores itself, so it is no change either. */
export const OWN_IGNORE =
  '# agentorchestr: its own files are never part of a commit\n/.gitignore\n/done.flag*\n/prompt_*\n/mcp_configs/\n';

/**
 * Keeps our files out of an agent's `git add -A`: an ignore file inside `.agentorchestr/` of this one worktree. The
 * alternatives are shared by all worktrees of the clone (info/exclude, the config) or get lost when an agent cleans its
 * children's environment. A project that tracks an ignore file there keeps it. Symbolic links are left alone.
 */
export async function keepOwnFilesOut(worktree: string, subdirectory: string): Promise<void> {
  for (const folder of new Set([worktree, join(worktree, subdirectory)])) {
    if (!(await isRealFolder(folder))) continue;
    const own = join(folder, '.agentorchestr');
    await mkdir(own).catch(() => undefined);
    if (!(await isRealFolder(own))) continue;
    await writeFile(join(own, '.gitignore'), OWN_IGNORE, { flag: 'wx' }).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
      },
    );
  }
}

async function isRealFolder(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null))?.isDirectory() ?? false;
}
