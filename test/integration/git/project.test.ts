import { chownSync, existsSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ProjectFacts } from '../../../src/git/contract.js';
import { createGitWorld, fingerprint, type GitWorld, type TestRepo } from '../../support/repo.js';
import { baseIn, cloneIn } from './made-of.js';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 60_000 });

let world: GitWorld;
beforeEach(() => {
  world = createGitWorld();
});
afterEach(() => world.close());

const inspect = (path: string) => world.git.inspectProject(path);
const base = (facts: ProjectFacts, options?: Parameters<typeof baseIn>[2]) => baseIn(world, facts, options);
const cloneOf = (origin: TestRepo) => cloneIn(world, origin);

describe('inspectProject', () => {
  it('tells a plain repository without writing anything, not even the index', async () => {
    const repo = world.repo();
    repo.write('a.txt', 'changed\n');
    repo.write('new file.txt', 'new\n');
    // Same content, another time: a git that refreshes would rewrite the index.
    utimesSync(join(repo.path, 'src/b.txt'), 1, 1);
    const print = fingerprint(repo.path, repo.repository);
    expect(await inspect(repo.path)).toEqual({
      project: repo.path,
      repository: repo.repository,
      checkout: repo.path,
      subdirectory: '',
      head: repo.git('rev-parse', 'HEAD'),
      branch: 'main',
      upstream: null,
      uncommittedFiles: ['a.txt', 'new file.txt'],
      newFiles: ['new file.txt'],
      submodules: false,
      lfs: false,
    });
    expect(fingerprint(repo.path, repo.repository)).toEqual(print);
  });

  it('is found where the name of its folder holds a line break', async () => {
    const repo = world.repo('two\nlines');
    expect(await inspect(repo.path)).toMatchObject({ repository: repo.repository, checkout: repo.path });
    // From a worktree git names it by its whole path.
    const worktree = join(world.sandbox.root, 'worktree');
    repo.git('worktree', 'add', '--quiet', '--detach', worktree);
    expect(await inspect(worktree)).toMatchObject({ repository: repo.repository, checkout: worktree });
  });

  it('[C-43] a folder in no repository has repository null', async () => {
    const folder = world.sandbox.folder('plain');
    expect(await inspect(folder)).toMatchObject({
      project: folder,
      repository: null,
      checkout: null,
      head: null,
    });
  });

  it('[C-43] a repository without commits is NO_COMMITS with the way out', async () => {
    const repo = world.repo('fresh', { empty: true });
    await expect(inspect(repo.path)).rejects.toMatchObject({
      code: 'NO_COMMITS',
      hint: expect.stringContaining('git commit') as string,
    });
  });

  it('[C-43] inside .git is refused', async () => {
    const repo = world.repo();
    await expect(inspect(repo.repository)).rejects.toMatchObject({ code: 'NOT_A_PROJECT' });
    await expect(inspect(join(repo.repository, 'refs'))).rejects.toThrow(/inside a git directory/);
  });

  it('[C-43] a bare repository works without a checkout', async () => {
    const origin = world.repo('origin');
    const path = join(world.sandbox.root, 'user', 'bare.git');
    origin.git('clone', '--quiet', '--bare', origin.path, path);
    const facts = await inspect(path);
    expect(facts).toMatchObject({
      repository: path,
      checkout: null,
      subdirectory: '',
      branch: 'main',
      uncommittedFiles: [],
    });
    const made = await world.git.createWorktree({
      repository: path,
      path: world.place('w01'),
      branch: 'agentorchestr/0123abcd/x-w01',
      commit: (await base(facts)).commit,
    });
    expect(existsSync(join(made.path, 'a.txt'))).toBe(true);
  });

  it('[C-43] the "bare + worktrees" layout works from its root and from one of its worktrees', async () => {
    const origin = world.repo('origin');
    const root = world.sandbox.folder('layout');
    const bare = join(root, '.bare');
    origin.git('clone', '--quiet', '--bare', origin.path, bare);
    writeFileSync(join(root, '.git'), 'gitdir: ./.bare\n');
    world.at(root).git('worktree', 'add', '--quiet', join(root, 'main'), 'main');
    expect(await inspect(root)).toMatchObject({ repository: bare, checkout: null, branch: 'main' });
    const facts = await inspect(join(root, 'main'));
    expect(facts).toMatchObject({ repository: bare, checkout: join(root, 'main'), branch: 'main' });
    const made = await world.git.createWorktree({
      repository: bare,
      path: world.place('w01'),
      branch: 'agentorchestr/0123abcd/x-w01',
      commit: facts.head ?? '',
    });
    expect(existsSync(join(made.path, 'a.txt'))).toBe(true);
  });

  it('[C-43] a repository of another user is refused with the command that trusts it', async () => {
    if (process.getuid?.() !== 0)
      throw new Error('this test gives a folder to another user and needs root (a container)');
    const repo = world.repo();
    for (const path of [repo.path, repo.repository]) chownSync(path, 12345, 12345);
    await expect(inspect(repo.path)).rejects.toMatchObject({
      code: 'NOT_A_PROJECT',
      hint: expect.stringContaining(`safe.directory ${repo.path}`) as string,
    });
    for (const path of [repo.path, repo.repository]) chownSync(path, 0, 0);
  });

  it('refuses what is no folder, and a checkout whose git directory is gone', async () => {
    await expect(inspect(join(world.sandbox.root, 'none'))).rejects.toThrow(/does not exist/);
    writeFileSync(join(world.sandbox.root, 'file'), '');
    await expect(inspect(join(world.sandbox.root, 'file'))).rejects.toThrow(/not a folder/);
    const broken = world.sandbox.folder('broken');
    writeFileSync(join(broken, '.git'), 'gitdir: /nowhere/at/all\n');
    await expect(inspect(broken)).rejects.toMatchObject({ code: 'NOT_A_PROJECT' });
  });

  it('takes a subdirectory, a symbolic link to a project, and a linked worktree', async () => {
    const repo = world.repo();
    expect(await inspect(join(repo.path, 'src'))).toMatchObject({ checkout: repo.path, subdirectory: 'src' });
    symlinkSync(repo.path, join(world.sandbox.root, 'link'));
    expect(await inspect(join(world.sandbox.root, 'link'))).toMatchObject({
      project: repo.path,
      checkout: repo.path,
    });
    const linked = join(world.sandbox.root, 'user', 'linked');
    repo.git('worktree', 'add', '--quiet', '-b', 'side', linked);
    expect(await inspect(linked)).toMatchObject({
      repository: repo.repository,
      checkout: linked,
      branch: 'side',
    });
  });

  it('refuses a plain folder that merely lies inside a repository, such as a home folder under git', async () => {
    const repo = world.repo();
    repo.write('.gitignore', 'work/\n');
    repo.write('work/project/x.txt', 'x');
    await expect(inspect(join(repo.path, 'work/project'))).rejects.toThrow(/no commit there holds it/);
  });

  it('tells a detached HEAD, submodules and LFS', async () => {
    const repo = world.repo();
    repo.commit('attributes', {
      '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n',
      '.gitmodules': '[submodule "x"]\n\tpath = x\n\turl = /nowhere\n',
    });
    repo.git('checkout', '--quiet', '--detach');
    const facts = await inspect(repo.path);
    expect(facts).toMatchObject({ branch: null, submodules: true, lfs: true });
    expect((await base(facts)).statement).toBe(`base ${facts.head?.slice(0, 7)} (detached HEAD)`);
  });

  it('works inside a submodule, whose git directory lies in another repository', async () => {
    const inner = world.repo('inner');
    const outer = world.repo('outer');
    outer.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.path, 'sub');
    outer.commit('with a submodule');
    const facts = await inspect(join(outer.path, 'sub'));
    expect(facts).toMatchObject({
      checkout: join(outer.path, 'sub'),
      repository: join(outer.repository, 'modules/sub'),
      subdirectory: '',
    });
    const made = await world.git.createWorktree({
      repository: facts.repository ?? '',
      path: world.place('w01'),
      branch: 'agentorchestr/0123abcd/x-w01',
      commit: facts.head ?? '',
    });
    expect(readFileSync(join(made.path, 'a.txt'), 'utf8')).toContain('one');
    expect(outer.git('status', '--porcelain')).toBe('');
  });

  it('knows the distance to the upstream and when it was last fetched', async () => {
    const origin = world.repo('origin');
    const clone = cloneOf(origin);
    expect((await inspect(clone.path)).upstream).toMatchObject({
      name: 'origin/main',
      ahead: 0,
      behind: 0,
      fetchedAt: expect.any(String) as string,
    });
    origin.commit('theirs', { 't.txt': 't\n' });
    clone.git('fetch', '--quiet');
    clone.commit('mine', { 'm.txt': 'm\n' });
    const fetched = new Date(Math.floor(Date.now() / 1000) * 1000 - 3 * 86_400_000 - 60_000);
    utimesSync(join(clone.repository, 'FETCH_HEAD'), fetched, fetched);
    const facts = await inspect(clone.path);
    expect(facts.upstream).toEqual({
      name: 'origin/main',
      ahead: 1,
      behind: 1,
      fetchedAt: fetched.toISOString(),
    });
    expect((await base(facts)).statement).toBe(
      `base main@${facts.head?.slice(0, 7)}; 1 ahead of and 1 behind origin/main as last fetched 3 days ago`,
    );
  });
});

describe('without git', () => {
  it('says GIT_MISSING, also where the folder exists', async () => {
    const none = createGitWorld({ binary: '/nonexistent/git' });
    await expect(none.git.inspectProject(none.sandbox.root)).rejects.toMatchObject({ code: 'GIT_MISSING' });
    await none.close();
  });
});
