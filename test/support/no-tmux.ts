import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Sandbox } from './sandbox.js';

const PROGRAMS = ['git', 'sh', 'bash', 'env', 'stty', 'ps', 'mv', 'cat', 'sleep', 'uname'];

/** A PATH with what the product and its agents need, but for tmux; `more`: programs by name. */
export function pathWithoutTmux(
  { env, folder }: Pick<Sandbox, 'env' | 'folder'>,
  more: Readonly<Record<string, string>> = {},
): string {
  const path = folder('no-tmux');
  const found = PROGRAMS.map((name) => {
    const place = execFileSync('sh', ['-c', `command -v ${name}`], { env, encoding: 'utf8' });
    return [name, place.trim()] as const;
  });
  for (const [name, target] of [...found, ['node', process.execPath] as const, ...Object.entries(more)])
    symlinkSync(target, join(path, name));
  return path;
}
