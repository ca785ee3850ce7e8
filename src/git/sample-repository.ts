import type { Environment } from './git-environment.js';
import { createGitRunner } from './run-git.js';

/**
 * Makes a folder the first commit of a repository on `main`, with an identity of its own in the repository's config, so
 * that agents can commit there on a machine where git knows nobody. For samples of ours, never for a user's folder.
 */
export async function makeSampleRepository(options: {
  folder: string;
  message: string;
  env: Environment;
}): Promise<void> {
  const { folder, message } = options;
  const git = createGitRunner({ env: options.env, binary: 'git' });
  const steps = [
    ['init', '--quiet', '--template=', '--initial-branch=main'],
    ['config', 'user.name', 'Demo'],
    ['config', 'user.email', 'demo@localhost'],
    ['add', '--all'],
    ['commit', '--quiet', '--message', message],
  ];
  for (const step of steps) await git.run(step, { at: { folder } });
}
