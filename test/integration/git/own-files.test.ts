import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { integration, worker } from '../../support/git-steps.js';
import { createGitWorld, fingerprint, type GitWorld, type TestRepo } from '../../support/repo.js';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 60_000 });

let world: GitWorld;
let repo: TestRepo;
beforeEach(() => {
  world = createGitWorld();
  repo = world.repo();
});
afterEach(() => world.close());

const OURS = [
  '.agentorchestr/done.flag',
  '.agentorchestr/done.flag.tmp',
  '.agentorchestr/prompt_w01.txt',
  '.agentorchestr/mcp_configs/x/mcp.json',
];
const leaveOurs = (tree: TestRepo, below = '') =>
  OURS.forEach((name) => tree.write(below + name, 'ours, with a token\n'));
const committed = (tree: TestRepo) =>
  tree.git('show', '--name-only', '--format=', '-z', 'HEAD').split('\0').filter(Boolean).sort();

describe('[C-50][61] our files in a worktree', () => {
  it('[C-50] are no changes and no part of commitAll, salvage or diff', async () => {
    const tree = await worker(world, repo, 'w01');
    rmSync(join(tree.path, '.agentorchestr'), { recursive: true });
    leaveOurs(tree);
    leaveOurs(tree, 'src/');
    const head = tree.git('rev-parse', 'HEAD');
    expect(await world.git.status(tree.path, head)).toEqual({ head, changedFiles: [], commitsBeyondBase: 0 });
    expect(await world.git.commitAll(tree.path, 'nothing')).toBeNull();
    expect(
      await world.git.diff({ worktree: tree.path, base: head, statOnly: false, maxBytes: 10_000 }),
    ).toEqual({ files: [], text: '', truncated: false });
    expect(
      await world.git.salvage({
        repository: repo.repository,
        worktree: tree.path,
        base: head,
        ref: 'refs/agentorchestr/salvage/0123abcd/w01',
        keepIgnoredIn: world.place('kept'),
        project: repo.path,
      }),
    ).toBeNull();
    tree.git('add', '--force', ...OURS);
    tree.write('theirs.txt', 'x\n');
    await world.git.commitAll(tree.path, 'work');
    expect(committed(tree)).toEqual(['theirs.txt']);
    expect(tree.read('.agentorchestr/done.flag')).toContain('ours');
  });

  it('[61] do not get into an agent\'s own "git add -A && git commit", by the ignore file of the worktree alone', async () => {
    const tree = await worker(world, repo, 'w01');
    leaveOurs(tree);
    tree.write('.agentorchestr/PROJECT.md', "the project's own\n");
    tree.write('work.txt', 'x\n');
    expect(tree.git('status', '--porcelain', '--untracked-files=all')).toBe(
      '?? .agentorchestr/PROJECT.md\n?? work.txt',
    );
    tree.git('add', '-A');
    tree.git('commit', '--quiet', '-m', 'work');
    expect(committed(tree)).toEqual(['.agentorchestr/PROJECT.md', 'work.txt']);
    expect(tree.git('status', '--porcelain')).toBe('');
  });

  it("[61] nor in the environment we give agents, even without that ignore file; the user's global excludes go on to hold", async () => {
    writeFileSync(join(world.sandbox.home, 'my excludes'), '*.swp\n');
    repo.git('config', '--global', 'core.excludesFile', '~/my excludes');
    const tree = await worker(world, repo, 'w01');
    rmSync(join(tree.path, '.agentorchestr'), { recursive: true });
    const variables = await world.git.agentGitEnvironment({
      project: repo.path,
      directory: world.place("it's private"),
    });
    expect(Object.keys(variables).filter((name) => /KEY|TOKEN|SECRET/i.test(name))).toEqual([]);
    leaveOurs(tree);
    leaveOurs(tree, 'src/');
    tree.write('work.txt', 'x\n');
    tree.write('work.txt.swp', 'x\n');
    const agent = (...args: string[]) =>
      execFileSync('git', args, {
        cwd: tree.path,
        env: { ...world.sandbox.env, ...variables },
        encoding: 'utf8',
      });
    agent('add', '-A');
    agent('-c', 'user.name=Agent', 'commit', '--quiet', '-m', 'work');
    expect(committed(tree)).toEqual(['work.txt']);
    expect(tree.git('log', '-1', '--format=%an')).toBe('Agent');
    // Without those variables the same commit takes them: the test can fail.
    tree.git('add', '-A');
    expect(tree.git('diff', '--cached', '--name-only').split('\n')).toHaveLength(OURS.length * 2);
  });

  it.each([
    ['~/.config/git/ignore', {}],
    ['$XDG_CONFIG_HOME/git/ignore', { XDG_CONFIG_HOME: 'xdg' }],
  ])(
    "[C-50] the excludes of %s go on to hold in an agent's environment",
    async (_name, extra: { XDG_CONFIG_HOME?: string }) => {
      const probe = createGitWorld();
      const config =
        extra.XDG_CONFIG_HOME === undefined
          ? join(probe.sandbox.home, '.config')
          : join(probe.sandbox.home, extra.XDG_CONFIG_HOME);
      mkdirSync(join(config, 'git'), { recursive: true });
      writeFileSync(join(config, 'git', 'ignore'), '*.swp\n');
      const { createGit } = await import('../../../src/git/create-git.js');
      const { systemClock } = await import('../../../src/platform/clock.js');
      const env = {
        ...probe.sandbox.env,
        ...(extra.XDG_CONFIG_HOME === undefined ? {} : { XDG_CONFIG_HOME: config }),
        GIT_CONFIG_PARAMETERS: "'user.name=From Env'",
      };
      const mine = probe.repo();
      const variables = await createGit({ env, clock: systemClock }).agentGitEnvironment({
        project: mine.path,
        directory: probe.place('private'),
      });
      mine.write('x.swp', '');
      mine.write('.agentorchestr/done.flag', '');
      const agent = (...args: string[]) =>
        execFileSync('git', args, { cwd: mine.path, env: { ...env, ...variables }, encoding: 'utf8' });
      expect(agent('status', '--porcelain')).toBe('');
      expect(agent('config', 'user.name')).toBe('From Env\n');
      await probe.close();
    },
  );

  it("[C-50] the user's clone shows nothing of it: config, info/exclude, hooks and index stay", async () => {
    const before = fingerprint(repo.path, repo.repository);
    const tree = await worker(world, repo, 'w01');
    await world.git.agentGitEnvironment({ project: repo.path, directory: world.place('private') });
    leaveOurs(tree);
    tree.git('add', '-A');
    expect(fingerprint(repo.path, repo.repository)).toEqual(before);
  });

  it("the ignore file leaves a project's own one, and symbolic links, alone", async () => {
    repo.commit('own ignore', { '.agentorchestr/.gitignore': 'cache/\n' });
    const tree = await worker(world, repo, 'w01');
    expect([tree.read('.agentorchestr/.gitignore'), tree.git('status', '--porcelain')]).toEqual([
      'cache/\n',
      '',
    ]);
    repo.git('rm', '--quiet', '-r', '.agentorchestr');
    const outside = world.sandbox.folder('outside');
    symlinkSync(outside, join(repo.path, '.agentorchestr'));
    repo.commit('a link');
    await worker(world, repo, 'w02');
    expect(existsSync(join(outside, '.gitignore'))).toBe(false);
  });

  it("lies in the project's folder too when that is a subdirectory", async () => {
    const made = await world.git.createWorktree({
      repository: repo.repository,
      path: world.place('w01'),
      branch: 'agentorchestr/0123abcd/x-w01',
      commit: 'main',
      subdirectory: 'src',
    });
    const tree = world.at(made.path);
    leaveOurs(tree, 'src/');
    tree.git('add', '-A');
    expect(tree.git('status', '--porcelain')).toBe('');
  });
});

describe('[61] our files that an agent committed by force', () => {
  it.each(['merge', 'squash', 'cherry-pick'] as const)(
    '[61] are stripped by integrate (%s), and no commit of the result has them',
    async (strategy) => {
      const target = await integration(world, repo);
      const tree = await worker(world, repo, 'w01');
      leaveOurs(tree);
      tree.write('work.txt', 'x\n');
      tree.git('add', '--force', ...OURS, '.agentorchestr/.gitignore', 'work.txt');
      tree.git('commit', '--quiet', '-m', 'everything');
      tree.git('rm', '--quiet', '--cached', OURS[0] ?? '');
      const commit = tree.commit('more', { 'more.txt': 'x\n' });
      const result = await world.git.integrate({
        repository: repo.repository,
        worktree: target.path,
        commit,
        message: 'm',
        strategy,
        base: repo.git('rev-parse', 'main'),
      });
      expect(result).toMatchObject({ merged: true, strategy: strategy === 'merge' ? 'squash' : strategy });
      expect(result.merged && [...result.strippedFiles].sort()).toEqual(
        expect.arrayContaining([...OURS.slice(1), '.agentorchestr/.gitignore'].sort()) as unknown,
      );
      expect(target.git('ls-files').split('\n').sort()).toEqual([
        'a.txt',
        'more.txt',
        'src/b.txt',
        'work.txt',
      ]);
      expect(target.git('log', '--all-match', '--format=%H', 'HEAD', '--', '.agentorchestr')).toBe('');
      expect(
        await world.git.integrate({
          repository: repo.repository,
          worktree: target.path,
          commit,
          message: 'm',
          strategy,
          base: repo.git('rev-parse', 'main'),
        }),
      ).toMatchObject({ merged: true, alreadyIn: true });
    },
  );

  it('a tracked file of the project with such a name is not touched by the stripping', async () => {
    repo.commit('theirs', {
      '.agentorchestr/prompt_template.md': 'v1\n',
      '.agentorchestr/PROJECT.md': 'p\n',
    });
    const target = await integration(world, repo);
    const tree = await worker(world, repo, 'w01');
    const commit = tree.commit('work', { 'work.txt': 'x\n', '.agentorchestr/PROJECT.md': 'p2\n' });
    expect(
      await world.git.integrate({
        repository: repo.repository,
        worktree: target.path,
        commit,
        message: 'm',
        strategy: 'merge',
        base: repo.git('rev-parse', 'main'),
      }),
    ).toMatchObject({ strippedFiles: [], strategy: 'merge' });
    expect([
      target.read('.agentorchestr/prompt_template.md'),
      target.read('.agentorchestr/PROJECT.md'),
    ]).toEqual(['v1\n', 'p2\n']);
    expect(readFileSync(join(target.path, 'work.txt'), 'utf8')).toBe('x\n');
  });
});

describe('commitAll', () => {
  it('commits modified, deleted, untracked and staged files with odd names, and keeps the message as it is', async () => {
    const tree = await worker(world, repo, 'w01');
    tree.write('a.txt', 'changed\n');
    rmSync(join(tree.path, 'src/b.txt'));
    for (const name of ['-dash', 'sp ace', '"quote"', "it's", 'new\nline', 'ünï', '#hash', ':(top)x'])
      tree.write(name, 'x\n');
    const commit = await world.git.commitAll(tree.path, '# not a comment\n\nbody');
    expect(tree.git('rev-parse', 'HEAD')).toBe(commit);
    expect(tree.git('log', '-1', '--format=%B')).toBe('# not a comment\n\nbody');
    expect(await world.git.status(tree.path, 'main')).toMatchObject({
      changedFiles: [],
      commitsBeyondBase: 1,
    });
    expect(committed(tree)).toHaveLength(10);
  });

  it('runs no hook of the repository and signs nothing, whatever is configured', async () => {
    repo.git('config', 'commit.gpgSign', 'true');
    repo.git('config', 'gpg.program', 'false');
    mkdirSync(join(repo.repository, 'hooks'), { recursive: true });
    for (const hook of [
      'pre-commit',
      'commit-msg',
      'prepare-commit-msg',
      'post-commit',
      'post-checkout',
      'post-index-change',
      'reference-transaction',
      'pre-merge-commit',
      'post-merge',
    ])
      writeFileSync(
        join(repo.repository, 'hooks', hook),
        `#!/bin/sh\necho ${hook} >> '${world.sandbox.root}/hooks-ran'\nexit 1\n`,
        { mode: 0o755 },
      );
    const target = await integration(world, repo);
    const tree = await worker(world, repo, 'w01');
    tree.write('w.txt', 'x\n');
    const commit = await world.git.commitAll(tree.path, 'work');
    await world.git.integrate({
      repository: repo.repository,
      worktree: target.path,
      commit: commit ?? '',
      message: 'm',
      strategy: 'merge',
      base: 'main',
    });
    await world.git.resetWorktree(target.path, 'HEAD');
    await world.git.removeWorktree({
      repository: repo.repository,
      path: tree.path,
      trash: world.place('trash'),
    });
    expect(existsSync(join(world.sandbox.root, 'hooks-ran'))).toBe(false);
  });

  it('refuses folders that are repositories of their own, and says which', async () => {
    const tree = await worker(world, repo, 'w01');
    mkdirSync(join(tree.path, 'inner'));
    const inner = world.at(join(tree.path, 'inner'));
    inner.git('init', '--quiet');
    inner.commit('inner', { 'i.txt': 'i\n' });
    tree.write('w.txt', 'x\n');
    await expect(world.git.commitAll(tree.path, 'work')).rejects.toThrow(/repositories of their own: inner/);
    expect(tree.git('diff', '--cached', '--name-only')).toBe('w.txt');
  });

  it('never works on the repository around a worktree that lost its .git', async () => {
    mkdirSync(world.place('worktrees'), { recursive: true });
    const outer = world.at(world.place('worktrees'));
    outer.git('init', '--quiet');
    const head = outer.commit('a home folder under git', { 'precious.txt': 'p\n' });
    const tree = await worker(world, repo, 'w01');
    rmSync(join(tree.path, '.git'));
    outer.write('precious.txt', 'changed, not committed\n');
    await expect(world.git.commitAll(tree.path, 'work')).rejects.toMatchObject({ code: 'GIT_FAILED' });
    await expect(world.git.resetWorktree(tree.path, head)).rejects.toMatchObject({ code: 'GIT_FAILED' });
    await expect(world.git.status(tree.path, head)).rejects.toMatchObject({ code: 'GIT_FAILED' });
    expect([outer.git('rev-parse', 'HEAD'), outer.read('precious.txt')]).toEqual([
      head,
      'changed, not committed\n',
    ]);
    expect(existsSync(join(tree.path, 'a.txt'))).toBe(true);
  });

  it("waits for an agent's own git to let go of the index", async () => {
    const tree = await worker(world, repo, 'w01');
    tree.write('w.txt', 'x\n');
    const lock = join(tree.git('rev-parse', '--absolute-git-dir'), 'index.lock');
    writeFileSync(lock, '');
    const done = world.git.commitAll(tree.path, 'work');
    setTimeout(() => rmSync(lock), 300);
    expect(await done).toBe(tree.git('rev-parse', 'HEAD'));
  });
});

describe('resetWorktree', () => {
  it("throws away changes and untracked files, keeps ignored ones, and refuses the user's checkout", async () => {
    repo.commit('ignore', { '.gitignore': 'node_modules/\n' });
    const tree = await worker(world, repo, 'w01');
    tree.write('a.txt', 'changed\n');
    tree.write('new.txt', 'x\n');
    tree.write('node_modules/m.js', 'm\n');
    await world.git.resetWorktree(tree.path, 'main');
    expect([
      tree.read('a.txt'),
      existsSync(join(tree.path, 'new.txt')),
      tree.read('node_modules/m.js'),
    ]).toEqual(['one\ntwo\nthree\n', false, 'm\n']);
    repo.write('mine.txt', 'x\n');
    await expect(world.git.resetWorktree(repo.path, 'main')).rejects.toThrow(
      /not a worktree of agentorchestr/,
    );
    expect(repo.read('mine.txt')).toBe('x\n');
  });
});
