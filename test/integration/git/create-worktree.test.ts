import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createGit } from '../../../src/git/create-git.js';
import { systemClock } from '../../../src/platform/clock.js';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { stallingGit } from '../../support/git-steps.js';
import { compileGitRoom, finished, startGitProcess } from '../../support/compiled-git.js';
import {
  allRefs,
  createGitWorld,
  fingerprint,
  registeredWorktrees,
  type GitWorld,
  type TestRepo,
} from '../../support/repo.js';
import { worktreeIn } from './made-of.js';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 60_000 });

let world: GitWorld;
beforeEach(() => {
  world = createGitWorld();
});
afterEach(() => world.close());

const wanted = (repository: string, id: string, commit?: string) => worktreeIn(world, repository, id, commit);

describe('a new worktree', () => {
  it('has the files of its commit, its own new branch, no upstream and no lock', async () => {
    const repo = world.repo();
    const commit = repo.git('rev-parse', 'HEAD');
    const made = await world.git.createWorktree(wanted(repo.repository, 'w01', 'main'));
    expect(made).toEqual({
      path: world.place('worktrees', 'w01'),
      branch: 'agentorchestr/0123abcd/implementer-w01',
      commit,
    });
    expect(readFileSync(join(made.path, 'a.txt'), 'utf8')).toBe('one\ntwo\nthree\n');
    const tree = world.at(made.path);
    expect(tree.git('rev-parse', 'HEAD')).toBe(commit);
    expect(tree.git('status', '--porcelain', '--untracked-files=all')).toBe('');
    expect(tree.git('config', '--get-regexp', '^user').includes('branch.')).toBe(false);
    expect(repo.git('worktree', 'list', '--porcelain')).not.toContain('locked');
    expect(await world.git.status(made.path, commit)).toEqual({
      head: commit,
      changedFiles: [],
      commitsBeyondBase: 0,
    });
  });

  it('is detached when no branch is asked for', async () => {
    const repo = world.repo();
    const made = await world.git.createWorktree({ ...wanted(repo.repository, 'verify'), branch: null });
    expect(made.branch).toBeNull();
    expect(repo.git('worktree', 'list', '--porcelain')).toContain('detached');
  });

  it('takes an empty commit and a path with spaces, quotes, a newline and a leading dash', async () => {
    const repo = world.repo('empty', { empty: true });
    repo.git('commit', '--quiet', '--allow-empty', '-m', 'nothing');
    const path = world.place('it\'s "odd"', '-dash\nline ünï');
    const made = await world.git.createWorktree({ ...wanted(repo.repository, 'w01'), path });
    expect(made.path).toBe(path);
    expect(readdirSync(path)).toContain('.git');
    await world.git.removeWorktree({ repository: repo.repository, path, trash: world.place('trash') });
    expect(registeredWorktrees(repo)).toEqual([repo.path]);
  });

  it('refuses a commit that does not exist and names that look like options', async () => {
    const repo = world.repo();
    await expect(world.git.createWorktree(wanted(repo.repository, 'w01', 'no-such'))).rejects.toMatchObject({
      code: 'REF_NOT_FOUND',
    });
    const nobodys = wanted(repo.repository, 'w01', '0123456789'.repeat(4));
    await expect(world.git.createWorktree(nobodys)).rejects.toMatchObject({ code: 'REF_NOT_FOUND' });
    expect(registeredWorktrees(repo)).toEqual([repo.path]);
    await expect(world.git.createWorktree(wanted(repo.repository, 'w01', '--orphan'))).rejects.toMatchObject({
      code: 'REF_NOT_FOUND',
    });
    await expect(
      world.git.createWorktree({ ...wanted(repo.repository, 'w01'), branch: '-f' }),
    ).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await expect(
      world.git.createWorktree({ ...wanted(repo.repository, 'w01'), branch: 'a..b' }),
    ).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    expect(existsSync(world.place('worktrees'))).toBe(false);
  });
});

describe('large files (LFS)', () => {
  const POINTER = 'version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 7\n';

  function lfsRepo(where: GitWorld): TestRepo {
    const repo = where.repo();
    repo.commit('pointer', {
      '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n',
      'big.bin': POINTER,
    });
    for (const [key, value] of [
      ['filter.lfs.clean', 'git-lfs clean -- %f'],
      ['filter.lfs.smudge', 'git-lfs smudge -- %f'],
      ['filter.lfs.process', 'git-lfs filter-process'],
      ['filter.lfs.required', 'true'],
    ] as const)
      repo.git('config', key, value);
    return repo;
  }

  it('are pointers where git-lfs is configured but not installed, and the tree counts as clean', async () => {
    const repo = lfsRepo(world);
    const made = await world.git.createWorktree(wanted(repo.repository, 'w01'));
    expect(readFileSync(join(made.path, 'big.bin'), 'utf8')).toBe(POINTER);
    expect((await world.git.status(made.path, 'main')).changedFiles).toEqual([]);
  });

  it('are filled in by "git lfs checkout" after a checkout that downloads nothing, where it is installed', async () => {
    const log = join(world.sandbox.root, 'lfs.log');
    const folder = world.sandbox.folder('lfs-bin');
    const script = `#!/bin/sh\necho "$GIT_LFS_SKIP_SMUDGE $*" >> '${log}'\ncase "$1" in smudge|clean) exec cat;; filter-process) exit 1;; esac\n`;
    writeFileSync(join(folder, 'git-lfs'), script, { mode: 0o755 });
    const repo = lfsRepo(world);
    repo.git('config', '--unset', 'filter.lfs.process');
    const env = { ...world.sandbox.env, PATH: `${folder}:${world.sandbox.env['PATH']}` };
    await createGit({ env, clock: systemClock }).createWorktree(wanted(repo.repository, 'w01'));
    const calls = readFileSync(log, 'utf8').trim().split('\n');
    expect(calls).toEqual(expect.arrayContaining(['1 smudge -- big.bin', '1 checkout']));
  });
});

describe('[C-38] many at once', () => {
  const names = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(2, '0')}`);

  function expectAll(repo: ReturnType<GitWorld['repo']>, ids: readonly string[]) {
    expect(registeredWorktrees(repo).sort()).toEqual(
      [repo.path, ...ids.map((id) => world.place('worktrees', id))].sort(),
    );
    const branches = Object.keys(allRefs(repo)).filter((name) =>
      name.startsWith('refs/heads/agentorchestr/'),
    );
    expect(branches.sort()).toEqual(
      ids.map((id) => `refs/heads/agentorchestr/0123abcd/implementer-${id}`).sort(),
    );
    for (const id of ids)
      expect(readFileSync(world.place('worktrees', id, 'a.txt'), 'utf8')).toBe('one\ntwo\nthree\n');
  }

  it('[C-38] forty parallel spawns on one repository all succeed and leave forty branches, no stray one', async () => {
    const repo = world.repo();
    const ids = names('w', 40);
    await Promise.all(ids.map((id) => world.git.createWorktree(wanted(repo.repository, id))));
    expectAll(repo, ids);
  });

  it('[C-38] forty parallel spawns from two processes all succeed', async () => {
    const repo = world.repo();
    const compiled = compileGitRoom(world.sandbox);
    const body = 'await Promise.all(input.map((one) => git.createWorktree(one)));';
    const [first, second] = [names('a', 20), names('b', 20)];
    const run = (ids: readonly string[]) =>
      finished(
        startGitProcess(world.sandbox, compiled, {
          body,
          input: ids.map((id) => wanted(repo.repository, id)),
        }),
      );
    await Promise.all([run(first), run(second)]);
    expectAll(repo, [...first, ...second]);
  });

  it('[C-39] a fetch loop beside spawns fails on neither side', async () => {
    const remote = world.repo('remote');
    const clonePath = join(world.sandbox.root, 'user', 'clone');
    remote.git('clone', '--quiet', remote.path, clonePath);
    const clone = world.at(clonePath);
    const facts = await world.git.inspectProject(clonePath);
    let spawning = true;
    let fetches = 0;
    const fetchLoop = (async () => {
      while (spawning || fetches < 5) {
        remote.commit(`more ${fetches}`, { [`f${fetches}.txt`]: 'x\n' });
        const base = await world.git.prepareBase({
          facts,
          sessionId: '0123abcd',
          includeChanges: false,
          fetch: true,
          importRoot: world.place('imported'),
        });
        expect(base.statement).not.toContain('failed');
        fetches += 1;
      }
    })();
    await Promise.all(
      names('w', 20).map((id) => world.git.createWorktree(wanted(clone.repository, id))),
    ).finally(() => (spawning = false));
    await fetchLoop;
    expect(registeredWorktrees(clone)).toHaveLength(21);
    expect(clone.git('fsck', '--no-progress')).not.toContain('error');
  });

  it('[C-39] a fetch waits while a worktree is being registered, by the same lock', async () => {
    const remote = world.repo('remote');
    const clonePath = join(world.sandbox.root, 'user', 'clone');
    remote.git('clone', '--quiet', remote.path, clonePath);
    remote.commit('more', { 'f.txt': 'x\n' });
    const clone = world.at(clonePath);
    const facts = await world.git.inspectProject(clonePath);
    const shim = stallingGit(world, 'add', 'before');
    const slow = createGit({ env: { ...world.sandbox.env, ...shim.env }, clock: systemClock });
    const spawning = slow.createWorktree(wanted(clone.repository, 'w01'));
    await shim.reached();
    let fetched = false;
    const fetching = world.git
      .prepareBase({
        facts,
        sessionId: '0123abcd',
        includeChanges: false,
        fetch: true,
        importRoot: world.place('imported'),
      })
      .finally(() => (fetched = true));
    // What needs no lock goes on meanwhile, for longer than the fetch would take.
    for (let round = 0; round < 5; round += 1) await world.git.inspectProject(clonePath);
    expect([fetched, clone.git('rev-list', '--count', 'origin/main')]).toEqual([false, '1']);
    shim.release();
    await spawning;
    expect((await fetching).statement).toContain('1 behind origin/main');
  });
});

describe('[C-41] names that are taken', () => {
  const branch = 'agentorchestr/0123abcd/implementer-w01';

  async function expectRefused(repo: ReturnType<GitWorld['repo']>) {
    const [refs, print] = [allRefs(repo), fingerprint(repo.path, repo.repository)];
    await expect(world.git.createWorktree(wanted(repo.repository, 'w01'))).rejects.toMatchObject({
      code: 'BRANCH_IN_USE',
    });
    expect([allRefs(repo), fingerprint(repo.path, repo.repository)]).toEqual([refs, print]);
    expect(existsSync(world.place('worktrees'))).toBe(false);
  }

  it('[C-41] a local branch of that name is neither reused nor reset', async () => {
    const repo = world.repo();
    repo.git('branch', branch);
    repo.commit('second', { 'c.txt': 'c\n' });
    await expectRefused(repo);
  });

  it('[C-41] a branch that only the remote has is not taken over', async () => {
    const repo = world.repo();
    repo.git('remote', 'add', 'origin', world.repo('remote').path);
    repo.git('update-ref', `refs/remotes/origin/${branch}`, 'HEAD');
    await expectRefused(repo);
  });

  it('[C-41] a branch that is checked out is not taken over', async () => {
    const repo = world.repo();
    repo.git('switch', '--quiet', '-c', branch);
    await expectRefused(repo);
  });

  it('[C-41] a branch whose name stands in the way of ours is left alone', async () => {
    const repo = world.repo();
    repo.git('branch', 'agentorchestr');
    await expectRefused(repo);
  });

  it('[C-41] of two attempts at one name at once, exactly one wins', async () => {
    const repo = world.repo();
    const both = ['x', 'y'].map((id) => world.git.createWorktree({ ...wanted(repo.repository, id), branch }));
    const results = await Promise.allSettled(both);
    expect(results.map((result) => result.status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(results.find((result) => result.status === 'rejected')).toMatchObject({
      reason: { code: 'BRANCH_IN_USE' },
    });
    expect(registeredWorktrees(repo)).toHaveLength(2);
    expect(allRefs(repo)).toHaveProperty(`refs/heads/${branch}`);
  });
});
