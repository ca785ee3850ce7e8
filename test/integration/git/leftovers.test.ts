import { readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { age, stallingGit } from '../../support/git-steps.js';
import { compileGitRoom, finished, startGitProcess } from '../../support/compiled-git.js';
import {
  allRefs,
  createGitWorld,
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

describe('[C-51] leftovers never block a new spawn', () => {
  it('[C-51] a worktree folder deleted by hand can be made again', async () => {
    const repo = world.repo();
    const made = await world.git.createWorktree(wanted(repo.repository, 'w01'));
    removeFolder(made.path);
    const again = await world.git.createWorktree({
      ...wanted(repo.repository, 'w01'),
      branch: 'agentorchestr/0123abcd/implementer-w02',
    });
    expect(again.path).toBe(made.path);
    expect(registeredWorktrees(repo)).toEqual([repo.path, made.path]);
  });

  it('[C-51] even when it was locked, and a detached commit that only it knew gets a ref', async () => {
    const repo = world.repo();
    const made = await world.git.createWorktree({ ...wanted(repo.repository, 'w01'), branch: null });
    const lost = world.at(made.path).commit('only here', { 'only.txt': 'x\n' });
    repo.git('worktree', 'lock', made.path);
    removeFolder(made.path);
    await world.git.createWorktree(wanted(repo.repository, 'w01'));
    expect(Object.values(allRefs(repo))).toContain(lost);
  });

  it('[C-51] a locked worktree of the user elsewhere stays as it is', async () => {
    const repo = world.repo();
    const theirs = join(world.sandbox.root, 'user', 'theirs');
    repo.git('worktree', 'add', '--quiet', '--lock', '--reason', 'on a stick', '-b', 'theirs', theirs);
    removeFolder(theirs);
    const made = await world.git.createWorktree(wanted(repo.repository, 'w01'));
    await world.git.removeWorktree({
      repository: repo.repository,
      path: made.path,
      trash: world.place('trash'),
    });
    expect(repo.git('worktree', 'list', '--porcelain')).toContain('locked on a stick');
  });

  it('[C-51] the repository may be moved between spawns', async () => {
    const repo = world.repo();
    await world.git.createWorktree(wanted(repo.repository, 'w01'));
    const moved = join(world.sandbox.root, 'user', 'moved');
    renameSync(repo.path, moved);
    const made = await world.git.createWorktree(wanted(join(moved, '.git'), 'w02'));
    expect(readFileSync(join(made.path, 'a.txt'), 'utf8')).toContain('one');
  });

  it.each(['add', 'checkout'])(
    '[C-51] killed with -9 during "%s", the same spawn works at the next try',
    async (step) => {
      const repo = world.repo();
      const compiled = compileGitRoom(world.sandbox);
      const shim = stallingGit(world, step);
      const child = startGitProcess(world.sandbox, compiled, {
        body: 'await git.createWorktree(input);',
        input: wanted(repo.repository, 'w01'),
        env: shim.env,
      });
      await shim.reached();
      process.kill(-(child.pid ?? 0), 'SIGKILL');
      await new Promise((resolve) => child.once('close', resolve));
      age(join(repo.repository, 'agentorchestr.lock'));
      const made = await world.git.createWorktree(wanted(repo.repository, 'w01'));
      expect(readFileSync(join(made.path, 'a.txt'), 'utf8')).toContain('one');
      expect(registeredWorktrees(repo)).toEqual([repo.path, made.path]);
      expect(Object.keys(allRefs(repo))).toEqual([
        'refs/heads/agentorchestr/0123abcd/implementer-w01',
        'refs/heads/main',
      ]);
    },
  );

  it('[C-51] a half-made worktree of a process that still lives is left alone', async () => {
    const repo = world.repo();
    const compiled = compileGitRoom(world.sandbox);
    const shim = stallingGit(world, 'checkout');
    const child = startGitProcess(world.sandbox, compiled, {
      body: 'await git.createWorktree(input);',
      input: wanted(repo.repository, 'w01'),
      env: shim.env,
    });
    await shim.reached();
    await world.git.createWorktree(wanted(repo.repository, 'w02'));
    expect(registeredWorktrees(repo)).toHaveLength(3);
    shim.release();
    await finished(child);
    expect(readFileSync(world.place('worktrees', 'w01', 'a.txt'), 'utf8')).toContain('one');
  });
});
