import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ensurePrivateDirectory, writeFileAtomic } from '../platform/files.js';
import type { GitRoom } from './git-room.js';
import { OWN_FILES } from './own-files.js';

/**
 * An excludes file for agents' own git calls: what the user excludes globally, then ours. It is named through
 * GIT_CONFIG_PARAMETERS, what `git -c` itself hands to its children. The documented GIT_CONFIG_COUNT/KEY_n/VALUE_n will
 * not do: agents that drop variables named *KEY* from their commands' environment would leave a count without its keys,
 * and then every git call fails.
 */
export async function agentGitEnvironment(
  room: GitRoom,
  options: { project: string; directory: string },
): Promise<Readonly<Record<string, string>>> {
  await ensurePrivateDirectory(options.directory);
  const file = join(options.directory, 'git-excludes');
  const ours = OWN_FILES.map((pattern) => `**/${pattern}`).join('\n');
  await writeFileAtomic(
    file,
    `${await usersExcludes(room, options.project)}\n# agentorchestr: its own files\n${ours}\n`,
  );
  const parameter = `'core.excludesFile=${file.replaceAll("'", `'\\''`)}'`;
  const inherited = room.env['GIT_CONFIG_PARAMETERS'];
  return {
    GIT_CONFIG_PARAMETERS:
      inherited === undefined || inherited === '' ? parameter : `${inherited} ${parameter}`,
  };
}

async function usersExcludes(room: GitRoom, project: string): Promise<string> {
  const args = ['config', '--path', '--get', 'core.excludesFile'];
  const configured = await room.run(args, { at: { folder: project }, answers: [0, 1] });
  const config = room.env['XDG_CONFIG_HOME'] ?? '';
  const fallback = join(
    config === '' ? join(room.env['HOME'] ?? homedir(), '.config') : config,
    'git',
    'ignore',
  );
  return readFile(configured.code === 0 ? configured.text : fallback, 'utf8').catch(() => '');
}
