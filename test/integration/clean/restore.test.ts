import { chmodSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { contents, LeftSession } from '../../support/left-session.js';
import { allRefs, fingerprint } from '../../support/repo.js';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 60_000 });

const REF = 'refs/agentorchestr/salvage/0123abcd/w01';

let session: LeftSession;
let files: Record<string, string>;
let commit: string;
beforeEach(async () => {
  session = await LeftSession.create();
  session.repo.commit('rules', { '.gitignore': '.env\n' });
  const tree = await session.worker('w01');
  commit = tree.commit('work', { '.gitignore': '.env\n', 'w.txt': 'w\n' });
  tree.write('un.sh', '#!/bin/sh\n');
  chmodSync(join(tree.path, 'un.sh'), 0o755);
  symlinkSync('a.txt', join(tree.path, 'link'));
  tree.write('a.txt', 'changed\n');
  tree.git('rm', '--quiet', 'src/b.txt');
  tree.write('.env', 'SECRET=1\n');
  files = contents(tree.path);
  session.end('done');
  await session.clean();
  session.collectGarbage();
});
afterEach(() => session.close());

describe('salvage list', () => {
  it('says what is kept, of whom, since when and how much', async () => {
    expect(await session.salvaged()).toEqual([
      {
        id: '0123abcd/w01',
        worker: 'w01',
        ref: REF,
        commit: allRefs(session.repo)[REF],
        at: expect.stringMatching(/^\d{4}-/) as string,
        uncommitted: true,
        commits: 1,
        files: 6,
        bytes: 30,
        ignored_files: ['.env'],
        kept_in: session.kept('w01'),
        submodules: [],
        repository: session.repo.repository,
        available: true,
      },
    ]);
  });

  it('still says so where the repository is gone', async () => {
    const { rmSync } = await import('node:fs');
    rmSync(session.repo.path, { recursive: true });
    expect(await session.salvaged()).toMatchObject([{ ref: REF, available: false, ignored_files: ['.env'] }]);
    await expect(session.restore({ work: 'w01' })).rejects.toMatchObject({ code: 'NOT_SALVAGED' });
  });
});

describe('salvage restore', () => {
  it('makes the worktree as it was: commits, staged and uncommitted files, modes, links, ignored files', async () => {
    const user = fingerprint(session.repo.path, session.repo.repository);
    const to = join(session.world.sandbox.root, 'back');
    mkdirSync(to);
    const restored = await session.restore({ work: 'w01', to });
    expect(restored).toMatchObject({
      how: 'worktree',
      path: to,
      commit,
      ignored_files: ['.env'],
      also_kept: [],
    });
    expect(contents(to)).toEqual(files);
    const back = session.world.at(to);
    expect(back.git('rev-parse', 'HEAD')).toBe(commit);
    expect(back.git('status', '--porcelain').split('\n')).toEqual([
      ' M a.txt',
      'D  src/b.txt',
      '?? link',
      '?? un.sh',
    ]);
    expect(fingerprint(session.repo.path, session.repo.repository)).toEqual(user);
  });

  it('without a place, into a folder of ours', async () => {
    const restored = await session.restore({ work: 'w01' });
    expect(restored['path']).toBe(join(session.paths.data, 'restored', '0123abcd-w01'));
    expect(contents(String(restored['path']))).toEqual(files);
  });

  it('puts only the changed files into a folder with files, and removes none', async () => {
    const to = join(session.world.sandbox.root, 'folder');
    mkdirSync(join(to, 'src'), { recursive: true });
    const folder = session.world.at(to);
    folder.write('src/b.txt', 'mine\n');
    folder.write('other.txt', 'mine\n');
    const restored = await session.restore({ work: 'w01', to });
    expect(restored).toMatchObject({ how: 'files', deleted_files: ['src/b.txt'], ignored_files: ['.env'] });
    const { 'src/b.txt': kept, 'other.txt': other, ...brought } = contents(to);
    expect([kept, other]).toEqual([other, kept]);
    expect(brought).toEqual(files);
  });

  it('overwrites nothing: names what is in the way, and writes nothing at all', async () => {
    const before = fingerprint(session.repo.path, session.repo.repository);
    await expect(session.restore({ work: 'w01', to: session.repo.path })).rejects.toMatchObject({
      code: 'RESTORE_IN_THE_WAY',
      params: { files: ['a.txt'] },
    });
    expect(fingerprint(session.repo.path, session.repo.repository)).toEqual(before);
  });

  it('never writes through a link of the folder', async () => {
    const to = join(session.world.sandbox.root, 'folder');
    const outside = session.world.sandbox.folder('outside');
    mkdirSync(to);
    session.world.at(to).write('x', 'x');
    symlinkSync(outside, join(to, 'w.txt'));
    await expect(session.restore({ work: 'w01', to })).rejects.toMatchObject({ code: 'RESTORE_IN_THE_WAY' });
  });

  it('makes a branch with the uncommitted files as one more commit, and never moves one that is there', async () => {
    const restored = await session.restore({ work: 'w01', branch: 'rescue' });
    expect(restored).toMatchObject({ how: 'branch', branch: 'rescue', kept_in: session.kept('w01') });
    expect(session.repo.git('rev-parse', 'rescue~1')).toBe(commit);
    expect(session.repo.git('ls-tree', '-r', '--name-only', 'rescue').split('\n')).toEqual([
      '.gitignore',
      'a.txt',
      'link',
      'un.sh',
      'w.txt',
    ]);
    const refs = allRefs(session.repo);
    await expect(session.restore({ work: 'w01', branch: 'main' })).rejects.toMatchObject({
      code: 'BRANCH_IN_USE',
    });
    await expect(session.restore({ work: 'w01', branch: '-x' })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    });
    await expect(session.restore({ work: 'w09' })).rejects.toMatchObject({
      code: 'NOT_SALVAGED',
      params: { valid: ['0123abcd/w01'] },
    });
    expect(allRefs(session.repo)).toEqual(refs);
  });

  it('keeps secrets for their owner only', async () => {
    const restored = await session.restore({ work: 'w01' });
    const { statSync } = await import('node:fs');
    const path = join(String(restored['path']), '.env');
    expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['SECRET=1\n', 0o600]);
  });
});
