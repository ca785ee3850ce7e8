import { existsSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Worktree } from '../../src/git/contract.js';
import type { GitWorld, TestRepo } from './repo.js';

const SESSION = '0123abcd';

/** A worktree as a worker gets it. */
export async function worker(
  world: GitWorld,
  repo: TestRepo,
  id: string,
  commit = 'HEAD',
): Promise<TestRepo & { made: Worktree }> {
  const made = await world.git.createWorktree({
    repository: repo.repository,
    path: world.place('worktrees', id),
    branch: `agentorchestr/${SESSION}/implementer-${id}`,
    commit,
  });
  return { ...world.at(made.path), made };
}

/** The session's integration worktree. */
export async function integration(
  world: GitWorld,
  repo: TestRepo,
  commit = 'HEAD',
): Promise<TestRepo & { made: Worktree }> {
  const made = await world.git.createWorktree({
    repository: repo.repository,
    path: world.place('worktrees', 'integration'),
    branch: `agentorchestr/${SESSION}/integration`,
    commit,
  });
  return { ...world.at(made.path), made };
}

/**
 * A folder with a `git` that hangs when `word` is among its arguments: before it does its work, or after. So a kill hits
 * exactly there. `reached` resolves when it hangs; `release` lets it go on.
 */
export function stallingGit(world: GitWorld, word: string, when: 'before' | 'after' = 'after') {
  const folder = world.sandbox.folder(`shim-${word}-${when}`);
  const [mark, go] = [join(folder, 'reached'), join(folder, 'go')];
  const work = '"$real" "$@"; code=$?';
  const hang = `: > '${mark}'; while [ ! -e '${go}' ]; do sleep 0.02; done`;
  const script = `#!/bin/sh
real=$(PATH="\${PATH#*:}" command -v git)
for argument in "$@"; do case "$argument" in ${word})
  ${when === 'before' ? `${hang}; ${work}` : `${work}; ${hang}`}
  exit $code;;
esac; done
exec "$real" "$@"
`;
  writeFileSync(join(folder, 'git'), script, { mode: 0o755 });
  return {
    env: { PATH: `${folder}:${world.sandbox.env['PATH']}` },
    release: () => writeFileSync(go, ''),
    async reached() {
      const deadline = Date.now() + 60_000;
      while (!existsSync(mark)) {
        if (Date.now() > deadline) throw new Error(`"${word}" was never reached`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
  };
}

/** Time passes for a lock that a killed process left: its last sign is now a minute old. */
export function age(path: string): void {
  const then = new Date(Date.now() - 60_000);
  if (existsSync(path)) utimesSync(path, then, then);
}
