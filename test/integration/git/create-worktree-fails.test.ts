import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createGit } from '../../../src/git/create-git.js';
import { systemClock } from '../../../src/platform/clock.js';
import {
  allRefs,
  createGitWorld,
  fingerprint,
  registeredWorktrees,
  removeFolder,
  type GitWorld,
} from '../../support/repo.js';
import { worktreeIn } from './made-of.js';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 60_000 });

let world: GitWorld;
beforeEach(() => {
  world = createGitWorld();
});
afterEach(() => world.close());

const wanted = (repository: string, id: string, commit?: string) => worktreeIn(world, repository, id, commit);

describe('[C-44] an add that fails is an error that leaves nothing', () => {
  async function expectFailure(
    repo: ReturnType<GitWorld['repo']>,
    options: Parameters<GitWorld['git']['createWorktree']>[0],
    code: string,
  ) {
    const [refs, print, trees] = [
      allRefs(repo),
      fingerprint(repo.path, repo.repository),
      registeredWorktrees(repo),
    ];
    await expect(world.git.createWorktree(options)).rejects.toMatchObject({ code });
    expect([allRefs(repo), fingerprint(repo.path, repo.repository), registeredWorktrees(repo)]).toEqual([
      refs,
      print,
      trees,
    ]);
  }

  it('[C-44] a parent folder that cannot be made', async () => {
    const repo = world.repo();
    writeFileSync(join(world.sandbox.root, 'blocked'), 'a file');
    await expectFailure(
      repo,
      { ...wanted(repo.repository, 'w01'), path: join(world.sandbox.root, 'blocked', 'deep', 'w01') },
      'WORKTREE_INVALID',
    );
    const readOnly = world.sandbox.folder('read-only');
    chmodSync(readOnly, 0o500);
    // Root may write anywhere.
    if (process.getuid?.() !== 0)
      await expectFailure(
        repo,
        { ...wanted(repo.repository, 'w01'), path: join(readOnly, 'w01') },
        'WORKTREE_INVALID',
      );
    chmodSync(readOnly, 0o700);
  });

  it('[C-44] a file, a folder with files, or a symbolic link in the way, which stay as they are', async () => {
    const repo = world.repo();
    mkdirSync(world.place('worktrees', 'full'), { recursive: true });
    writeFileSync(world.place('worktrees', 'full', 'mine.txt'), 'mine');
    writeFileSync(world.place('worktrees', 'file'), 'mine');
    symlinkSync(repo.path, world.place('worktrees', 'link'));
    for (const id of ['full', 'file', 'link'])
      await expectFailure(repo, wanted(repo.repository, id), 'WORKTREE_INVALID');
    expect(readFileSync(world.place('worktrees', 'full', 'mine.txt'), 'utf8')).toBe('mine');
    expect(readFileSync(world.place('worktrees', 'file'), 'utf8')).toBe('mine');
  });

  it('[C-44] a ref lock that another git holds', async () => {
    const repo = world.repo();
    const lock = join(repo.repository, 'refs/heads/agentorchestr/0123abcd/implementer-w01.lock');
    mkdirSync(join(lock, '..'), { recursive: true });
    writeFileSync(lock, '');
    await expectFailure(repo, wanted(repo.repository, 'w01'), 'GIT_FAILED');
    expect(existsSync(world.place())).toBe(false);
    removeFolder(lock);
    await world.git.createWorktree(wanted(repo.repository, 'w01'));
  });

  it('[C-44] a repository lock that another process holds for too long', async () => {
    const impatient = createGitWorld({ lockWaitMs: 200 });
    const repo = impatient.repo();
    mkdirSync(join(repo.repository, 'agentorchestr.lock'));
    const attempt = impatient.git.createWorktree({
      ...wanted(repo.repository, 'w01'),
      path: impatient.place('w01'),
    });
    await expect(attempt).rejects.toMatchObject({ code: 'GIT_FAILED' });
    await expect(attempt).rejects.toThrow(/lock/);
    expect(registeredWorktrees(repo)).toEqual([repo.path]);
    await impatient.close();
  });

  it('[C-44] a checkout that fails half-way', async () => {
    const repo = world.repo();
    repo.commit('filtered', { '.gitattributes': 'z.txt filter=broken\n', 'z.txt': 'z\n' });
    repo.git('config', 'filter.broken.smudge', 'false');
    repo.git('config', 'filter.broken.required', 'true');
    await expectFailure(repo, wanted(repo.repository, 'w01'), 'GIT_FAILED');
    expect(existsSync(world.place('worktrees'))).toBe(false);
  });

  it('[C-44] a file that the disk has no room for', async () => {
    const repo = world.repo();
    repo.commit('large', { 'large.bin': 'x'.repeat(100_000) });
    const limited = createGit({
      env: { ...world.sandbox.env, ...gitThatWritesLittle() },
      clock: systemClock,
    });
    const attempt = limited.createWorktree(wanted(repo.repository, 'w01'));
    await expect(attempt).rejects.toMatchObject({ code: 'GIT_FAILED' });
    expect(existsSync(world.place('worktrees'))).toBe(false);
    expect(registeredWorktrees(repo)).toEqual([repo.path]);
    expect(Object.keys(allRefs(repo))).toEqual(['refs/heads/main']);
  });
});

/** No file of more than 16 kB: to git what a full disk is. */
function gitThatWritesLittle(): { PATH: string } {
  const folder = world.sandbox.folder('limited');
  const real = '$(PATH="${PATH#*:}" command -v git)';
  const script = `#!/bin/sh\ntrap '' XFSZ\nulimit -f 32\nexec "${real}" "$@"\n`;
  writeFileSync(join(folder, 'git'), script, { mode: 0o755 });
  return { PATH: `${folder}:${world.sandbox.env['PATH']}` };
}
