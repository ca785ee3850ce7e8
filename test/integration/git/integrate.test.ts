import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { compileGitRoom, startGitProcess } from '../../support/compiled-git.js';
import { age, integration, stallingGit, worker } from '../../support/git-steps.js';
import { allRefs, createGitWorld, type GitWorld, type TestRepo } from '../../support/repo.js';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 60_000 });

let world: GitWorld;
let repo: TestRepo;
beforeEach(() => {
  world = createGitWorld();
  repo = world.repo();
});
afterEach(() => world.close());

type Strategy = 'merge' | 'squash' | 'cherry-pick';
const integrate = (target: TestRepo, commit: string, strategy: Strategy = 'merge', base = 'main') =>
  world.git.integrate({
    repository: repo.repository,
    worktree: target.path,
    commit,
    message: 'Integrate w01',
    strategy,
    base: repo.git('rev-parse', base),
  });

describe('integrate', () => {
  it('merges with a merge commit, moves branch, index and files, and knows what is in already', async () => {
    const target = await integration(world, repo);
    const one = await worker(world, repo, 'w01');
    const commit = one.commit('work', { 'w.txt': 'w\n', 'a.txt': 'one\ntwo\nthree\nfour\n' });
    const result = await integrate(target, commit);
    expect(result).toEqual({
      merged: true,
      commit: target.git('rev-parse', 'HEAD'),
      alreadyIn: false,
      strategy: 'merge',
      strippedFiles: [],
    });
    expect(target.git('rev-parse', 'HEAD^1', 'HEAD^2')).toBe(`${repo.git('rev-parse', 'main')}\n${commit}`);
    expect(target.git('log', '-1', '--format=%s|%an')).toBe('Integrate w01|Ursula User');
    expect([target.read('w.txt'), target.git('status', '--porcelain')]).toEqual(['w\n', '']);
    expect(target.git('symbolic-ref', 'HEAD')).toBe('refs/heads/agentorchestr/0123abcd/integration');
    expect(await integrate(target, commit)).toEqual({
      merged: true,
      commit: target.git('rev-parse', 'HEAD'),
      alreadyIn: true,
      strategy: 'merge',
      strippedFiles: [],
    });
  });

  it('squashes to one commit, and a second time finds it in already', async () => {
    const target = await integration(world, repo);
    const one = await worker(world, repo, 'w01');
    one.commit('first', { 'w.txt': 'w\n' });
    const commit = one.commit('second', { 'w.txt': 'ww\n' });
    expect(await integrate(target, commit, 'squash')).toMatchObject({
      merged: true,
      alreadyIn: false,
      strategy: 'squash',
    });
    expect(target.git('rev-list', '--count', 'main..HEAD')).toBe('1');
    expect(target.read('w.txt')).toBe('ww\n');
    expect(await integrate(target, commit, 'squash')).toMatchObject({ merged: true, alreadyIn: true });
    expect(target.git('rev-list', '--count', 'main..HEAD')).toBe('1');
  });

  it('cherry-picks each commit with its author, date and message, and skips what is in', async () => {
    const target = await integration(world, repo);
    const one = await worker(world, repo, 'w01');
    one.write('w.txt', 'w\n');
    one.git('add', '.');
    one.git(
      'commit',
      '--quiet',
      '--author=Ann Other <ann@example.org>',
      '--date=2020-02-03T04:05:06+0700',
      '-m',
      'subject\n\nbody ü "q"',
    );
    const commit = one.commit('second', { 'x.txt': 'x\n' });
    expect(await integrate(target, commit, 'cherry-pick')).toMatchObject({
      merged: true,
      alreadyIn: false,
      strategy: 'cherry-pick',
    });
    expect(target.git('log', '--reverse', '--format=%an|%aI|%s|%b', 'main..HEAD')).toBe(
      'Ann Other|2020-02-03T04:05:06+07:00|subject|body ü "q"\n\nUrsula User|' +
        one.git('log', '-1', '--format=%aI') +
        '|second|',
    );
    expect(target.git('rev-list', '--merges', '--count', 'HEAD')).toBe('0');
    expect(await integrate(target, commit, 'cherry-pick')).toMatchObject({ merged: true, alreadyIn: true });
  });

  it.each(['merge', 'squash', 'cherry-pick'] as const)(
    'returns the conflicting files and changes nothing at all (%s)',
    async (strategy) => {
      const target = await integration(world, repo);
      const [one, two] = [await worker(world, repo, 'w01'), await worker(world, repo, 'w02')];
      await integrate(
        target,
        one.commit('one', { 'a.txt': 'ONE\ntwo\nthree\n', 'new.txt': '1\n' }),
        strategy,
      );
      const head = target.git('rev-parse', 'HEAD');
      const result = await integrate(
        target,
        two.commit('two', { 'a.txt': 'uno\ntwo\nthree\n', 'new.txt': '2\n', 'fine.txt': 'f\n' }),
        strategy,
      );
      expect(result).toEqual({ merged: false, conflicts: ['a.txt', 'new.txt'] });
      expect([
        target.git('rev-parse', 'HEAD'),
        target.git('status', '--porcelain'),
        existsSync(join(target.path, 'fine.txt')),
      ]).toEqual([head, '', false]);
    },
  );

  it('goes on after the worker merged integration and resolved', async () => {
    const target = await integration(world, repo);
    const [one, two] = [await worker(world, repo, 'w01'), await worker(world, repo, 'w02')];
    await integrate(target, one.commit('one', { 'a.txt': 'ONE\n' }));
    two.commit('two', { 'a.txt': 'TWO\n' });
    expect(() => two.git('merge', 'agentorchestr/0123abcd/integration')).toThrow(/Command failed/);
    await expect(world.git.commitAll(two.path, 'resolve')).rejects.toThrow(
      /conflicts are not resolved: a.txt/,
    );
    two.write('a.txt', 'ONE TWO\n');
    const resolved = await world.git.commitAll(two.path, 'resolve');
    expect(two.git('rev-list', '--parents', '-1', 'HEAD').split(' ')).toHaveLength(3);
    expect(await integrate(target, resolved ?? '')).toMatchObject({ merged: true });
    expect(target.read('a.txt')).toBe('ONE TWO\n');
  });

  it('refuses a dirty integration worktree and leaves it as it is', async () => {
    const target = await integration(world, repo);
    const one = await worker(world, repo, 'w01');
    const commit = one.commit('work', { 'w.txt': 'w\n' });
    target.write('lead edit.txt', 'x\n');
    await expect(integrate(target, commit)).rejects.toMatchObject({
      code: 'INTEGRATION_DIRTY',
      params: { files: ['lead edit.txt'] },
    });
    expect(target.read('lead edit.txt')).toBe('x\n');
  });

  it('uses the merge attributes of the tree, as a merge there would', async () => {
    repo.commit('attributes', { '.gitattributes': 'list.txt merge=union\n', 'list.txt': 'start\n' });
    const target = await integration(world, repo);
    const [one, two] = [await worker(world, repo, 'w01'), await worker(world, repo, 'w02')];
    await integrate(target, one.commit('one', { 'list.txt': 'start\none\n' }));
    const commit = two.commit('two', { 'list.txt': 'start\ntwo\n' });
    expect(
      await world.git.predictConflicts(repo.repository, target.git('rev-parse', 'HEAD'), commit),
    ).toEqual([]);
    expect(await integrate(target, commit)).toMatchObject({ merged: true });
    expect(target.read('list.txt')).toBe('start\none\ntwo\n');
  });

  it('runs in turn when two are integrated at once', async () => {
    const target = await integration(world, repo);
    const workers = await Promise.all(['w01', 'w02', 'w03'].map((id) => worker(world, repo, id)));
    const commits = workers.map((one, index) => one.commit('work', { [`f${index}.txt`]: 'x\n' }));
    const results = await Promise.all(commits.map((commit) => integrate(target, commit)));
    expect(results.every((result) => result.merged)).toBe(true);
    expect(readdirSync(target.path).filter((name) => /^f\d/.test(name))).toHaveLength(3);
  });

  it('works for a project in a subdirectory', async () => {
    const target = await integration(world, repo);
    const one = await worker(world, repo, 'w01');
    const commit = one.commit('in src', { 'src/b.txt': 'bb\n' });
    expect(await integrate(target, commit)).toMatchObject({ merged: true });
    expect(target.read('src/b.txt')).toBe('bb\n');
  });

  it('works without any identity of the user, and with the one of the environment', async () => {
    const nobody = createGitWorld({ identity: false });
    const mine = nobody.at(nobody.sandbox.folder('mine'));
    mine.git('init', '--quiet', '--initial-branch=main');
    mine.write('a.txt', 'a\n');
    mine.git('add', '.');
    mine.git('-c', 'user.name=x', '-c', 'user.email=x@y', 'commit', '--quiet', '-m', 'first');
    const made = await nobody.git.createWorktree({
      repository: mine.repository,
      path: nobody.place('w01'),
      branch: 'agentorchestr/0123abcd/x-w01',
      commit: 'main',
    });
    nobody.at(made.path).write('b.txt', 'b\n');
    await nobody.git.commitAll(made.path, 'work');
    expect(nobody.at(made.path).git('log', '-1', '--format=%an <%ae>|%cn <%ce>')).toBe(
      'agentorchestr <agentorchestr@localhost>|agentorchestr <agentorchestr@localhost>',
    );
    await nobody.close();
  });
});

describe('[C-38] a killed integration', () => {
  it.each([
    ['commit-tree', 'after'],
    ['refs/worktree/agentorchestr-moving', 'after'],
    ['--ff-only', 'before'],
    ['--ff-only', 'after'],
  ] as const)('kill -9 at "%s" (%s) leaves before or after, and the retry works', async (word, when) => {
    const target = await integration(world, repo);
    const one = await worker(world, repo, 'w01');
    const commit = one.commit('work', { 'w.txt': 'w\n', 'a.txt': 'changed\n' });
    const before = target.git('rev-parse', 'HEAD');
    const shim = stallingGit(world, word, when);
    const child = startGitProcess(world.sandbox, compileGitRoom(world.sandbox), {
      body: 'await git.integrate(input);',
      input: {
        repository: repo.repository,
        worktree: target.path,
        commit,
        message: 'Integrate',
        strategy: 'merge',
        base: before,
      },
      env: shim.env,
    });
    await shim.reached();
    process.kill(-(child.pid ?? 0), 'SIGKILL');
    await new Promise((resolve) => child.once('close', resolve));
    // A killed process cannot clear its temporary folder.
    for (const name of readdirSync(world.sandbox.temp))
      rmSync(join(world.sandbox.temp, name), { recursive: true });
    const result = await integrate(target, commit);
    expect(result).toMatchObject({ merged: true, commit: target.git('rev-parse', 'HEAD') });
    expect(target.git('rev-parse', 'HEAD^1', 'HEAD^2')).toBe(`${before}\n${commit}`);
    expect([target.git('status', '--porcelain'), target.read('w.txt')]).toEqual(['', 'w\n']);
    expect(target.git('for-each-ref', 'refs/worktree')).toBe('');
  });

  it('a move that stopped half-way (files written, index locked, branch not moved) is finished, and foreign changes are kept', async () => {
    const target = await integration(world, repo);
    const one = await worker(world, repo, 'w01');
    const commit = one.commit('work', { 'w.txt': 'w\n', 'a.txt': 'changed\n' });
    // What a kill in the middle of git's own checkout leaves, written by hand.
    target.git('update-ref', 'refs/worktree/agentorchestr-moving', commit);
    target.write('a.txt', 'changed\n');
    target.write('w.txt', 'ha');
    const lock = join(target.git('rev-parse', '--absolute-git-dir'), 'index.lock');
    writeFileSync(lock, '');
    age(lock);
    await world.git.recoverWorktree(target.path);
    expect([
      target.git('rev-parse', 'HEAD'),
      target.git('status', '--porcelain'),
      target.read('w.txt'),
    ]).toEqual([commit, '', 'w\n']);
    const kept = Object.entries(allRefs(repo)).find(([name]) =>
      name.startsWith('refs/agentorchestr/salvage/interrupted/'),
    );
    expect(repo.git('show', `${kept?.[1]}:w.txt`)).toBe('ha');
    expect(await integrate(target, commit)).toMatchObject({ merged: true, alreadyIn: true });
  });

  it('a merge left open on a clean tree does not get in the way', async () => {
    const target = await integration(world, repo);
    const one = await worker(world, repo, 'w01');
    const commit = one.commit('work', { 'w.txt': 'w\n' });
    writeFileSync(join(target.git('rev-parse', '--absolute-git-dir'), 'MERGE_HEAD'), `${commit}\n`);
    expect(await integrate(target, commit)).toMatchObject({ merged: true, alreadyIn: false });
    expect(target.git('rev-list', '--parents', '-1', 'HEAD').split(' ')).toHaveLength(3);
  });
});

/** The installed git, calling itself 2.30 and without `merge-tree --write-tree` and `worktree add --reason`. */
