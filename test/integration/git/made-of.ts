import { join } from 'node:path';
import type { ProjectFacts } from '../../../src/git/contract.js';
import type { GitWorld, TestRepo } from '../../support/repo.js';

/** The worktree of a worker, for tests that care for how it is made. */
export function worktreeIn(world: GitWorld, repository: string, id: string, commit = 'HEAD') {
  return {
    repository,
    path: world.place('worktrees', id),
    branch: `agentorchestr/0123abcd/implementer-${id}`,
    commit,
  };
}

export function baseIn(
  world: GitWorld,
  facts: ProjectFacts,
  options: { includeChanges?: boolean; fetch?: boolean } = {},
) {
  return world.git.prepareBase({
    facts,
    sessionId: '0123abcd',
    includeChanges: options.includeChanges ?? false,
    fetch: options.fetch ?? false,
    importRoot: world.place('imported'),
  });
}

export function cloneIn(world: GitWorld, origin: TestRepo): TestRepo {
  const path = join(world.sandbox.root, 'user', 'clone');
  origin.git('clone', '--quiet', origin.path, path);
  return world.at(path);
}
