import { existsSync, mkdirSync, rmSync, symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ProjectFacts } from '../../../src/git/contract.js';
import { allRefs, createGitWorld, fingerprint, type GitWorld, type TestRepo } from '../../support/repo.js';
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

describe('prepareBase', () => {
  it('fixes HEAD, says what is not included, and fetches nothing unless asked', async () => {
    const origin = world.repo('origin');
    const clone = cloneOf(origin);
    origin.commit('theirs', { 't.txt': 't\n' });
    clone.write('a.txt', 'mine\n');
    const facts = await inspect(clone.path);
    const print = fingerprint(clone.path, clone.repository);
    const prepared = await base(facts);
    expect(prepared).toMatchObject({
      repository: clone.repository,
      commit: facts.head,
      subdirectory: '',
      imported: false,
    });
    expect(prepared.statement).toBe(
      `base main@${facts.head?.slice(0, 7)}; level with origin/main as last fetched just now; 1 uncommitted file is not included`,
    );
    expect(fingerprint(clone.path, clone.repository)).toEqual(print);
    expect((await base(facts, { fetch: true })).statement).toContain(
      '1 behind origin/main as last fetched just now',
    );
  });

  it('says that a fetch failed instead of failing, and never asks for a password', async () => {
    const clone = cloneOf(world.repo('origin'));
    clone.git('remote', 'set-url', 'origin', join(world.sandbox.root, 'gone'));
    const prepared = await base(await inspect(clone.path), { fetch: true });
    expect(prepared.statement).toContain('the fetch failed');
  });

  it('--include-changes: the snapshot equals the dirty tree, and index and files stay byte for byte', async () => {
    const repo = world.repo();
    repo.commit('more', { 'gone.txt': 'g\n', 'mode.sh': 'x\n', '.gitignore': '*.log\n' });
    repo.write('a.txt', 'unstaged\n');
    repo.write('staged.txt', 'staged\n');
    repo.git('add', 'staged.txt');
    repo.write('staged.txt', 'staged, then changed\n');
    repo.write('dir with space/ünï "q"\n.txt', 'untracked\n');
    repo.write('noise.log', 'ignored\n');
    repo.write('.agentorchestr/done.flag', 'done\n');
    rmSync(join(repo.path, 'gone.txt'));
    symlinkSync('a.txt', join(repo.path, 'link'));
    const print = fingerprint(repo.path, repo.repository);
    const facts = await inspect(repo.path);
    const prepared = await base(facts, { includeChanges: true });
    expect(fingerprint(repo.path, repo.repository)).toEqual(print);
    expect(prepared.statement).toContain('are included');
    expect(repo.git('rev-parse', `${prepared.commit}^`)).toBe(facts.head);
    expect(allRefs(repo)['refs/agentorchestr/base/0123abcd']).toBe(prepared.commit);
    const made = await world.git.createWorktree({
      repository: repo.repository,
      path: world.place('w01'),
      branch: null,
      commit: prepared.commit,
    });
    const tree = world.at(made.path);
    expect(tree.read('a.txt')).toBe('unstaged\n');
    expect(tree.read('staged.txt')).toBe('staged, then changed\n');
    expect(tree.read('dir with space/ünï "q"\n.txt')).toBe('untracked\n');
    expect(tree.git('ls-files', '-z').split('\0').filter(Boolean).sort()).toEqual(
      [
        '.gitignore',
        'a.txt',
        'dir with space/ünï "q"\n.txt',
        'link',
        'mode.sh',
        'src/b.txt',
        'staged.txt',
      ].sort(),
    );
  });

  it('--include-changes sees a change made in the very moment of the last index write', async () => {
    const repo = world.repo();
    // Same size, same second, possibly same tick: only the index's own time tells git to look inside.
    for (let round = 0; round < 8; round += 1) {
      repo.write('a.txt', 'aaaa\n');
      repo.git('add', 'a.txt');
      repo.git('commit', '--quiet', '--allow-empty', '-m', 'x');
      repo.write('a.txt', 'bbbb\n');
      const prepared = await base(await inspect(repo.path), { includeChanges: true });
      expect(repo.git('show', `${prepared.commit}:a.txt`)).toBe('bbbb');
    }
  });

  it('--include-changes on a clean tree is HEAD itself', async () => {
    const repo = world.repo();
    const facts = await inspect(repo.path);
    expect((await base(facts, { includeChanges: true })).commit).toBe(facts.head);
    expect(Object.keys(allRefs(repo))).toEqual(['refs/heads/main']);
  });
});

describe('[59] a folder that is no repository', () => {
  it('[59] is imported with all its files but the ignored ones, and stays as it was', async () => {
    const folder = world.sandbox.folder('plain');
    const files = world.at(folder);
    files.write('.gitignore', 'build/\n');
    files.write('build/big.o', 'x');
    files.write('deep/er/ü.txt', 'deep\n');
    files.write('-dash', 'dash\n');
    const before = fingerprint(folder, folder);
    const prepared = await base(await inspect(folder));
    expect(fingerprint(folder, folder)).toEqual(before);
    expect(prepared).toMatchObject({ imported: true, subdirectory: '' });
    expect(prepared.statement).toMatch(
      /^base: a private copy of .*plain \(not a git repository; 3 files, 1 kB\)$/,
    );
    const made = await world.git.createWorktree({
      repository: prepared.repository,
      path: world.place('w01'),
      branch: 'agentorchestr/0123abcd/x-w01',
      commit: prepared.commit,
    });
    const tree = world.at(made.path);
    expect([tree.read('deep/er/ü.txt'), tree.read('-dash'), existsSync(join(made.path, 'build'))]).toEqual([
      'deep\n',
      'dash\n',
      false,
    ]);
    expect(existsSync(join(folder, '.git'))).toBe(false);
  });

  it('[59] repositories inside are named as not included', async () => {
    const folder = world.sandbox.folder('plain');
    world.at(folder).write('x.txt', 'x');
    const inner = join(folder, 'inner');
    mkdirSync(inner);
    world.at(inner).git('init', '--quiet');
    world.at(inner).commit('inner', { 'i.txt': 'i\n' });
    const prepared = await base(await inspect(folder));
    expect(prepared.statement).toContain('1 git repository inside is not included: inner');
  });

  it('[59] more than 200 MiB is refused with what to do, and nothing is left', async () => {
    const folder = world.sandbox.folder('plain');
    world.at(folder).write('huge.bin', '');
    truncateSync(join(folder, 'huge.bin'), 201 * 1024 * 1024);
    await expect(base(await inspect(folder))).rejects.toMatchObject({
      code: 'NOT_A_PROJECT',
      hint: expect.stringContaining('.gitignore') as string,
    });
    expect(fingerprint(world.place('imported'), world.place('imported'))).toEqual({});
  });

  it('[59] a second start of the same session after a crash imports again', async () => {
    const folder = world.sandbox.folder('plain');
    world.at(folder).write('x.txt', 'x');
    const facts = await inspect(folder);
    const first = await base(facts);
    world.at(folder).write('y.txt', 'y');
    const second = await base(facts);
    expect(second.repository).toBe(first.repository);
    expect(second.commit).not.toBe(first.commit);
  });
});
