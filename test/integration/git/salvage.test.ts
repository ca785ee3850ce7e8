import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { worker } from '../../support/git-steps.js';
import { allRefs, createGitWorld, fingerprint, type GitWorld, type TestRepo } from '../../support/repo.js';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 60_000 });

const REF = 'refs/agentorchestr/salvage/0123abcd/w01';

let world: GitWorld;
let repo: TestRepo;
let base: string;
beforeEach(() => {
  world = createGitWorld();
  repo = world.repo();
  base = repo.git('rev-parse', 'HEAD');
});
afterEach(() => world.close());

const salvage = (tree: TestRepo) =>
  world.git.salvage({
    repository: repo.repository,
    worktree: tree.path,
    base,
    ref: REF,
    keepIgnoredIn: world.place('kept'),
    project: repo.path,
  });

const remove = (tree: TestRepo) =>
  world.git.removeWorktree({ repository: repo.repository, path: tree.path, trash: world.place('trash') });

/** Salvages, removes worktree and branch, and lets git throw away what nothing names. */
async function salvageAndDestroy(tree: TestRepo & { made: { branch: string | null } }) {
  const result = await salvage(tree);
  await remove(tree);
  await world.git.deleteBranch({ repository: repo.repository, branch: tree.made.branch ?? '' });
  repo.git('reflog', 'expire', '--expire=now', '--all');
  repo.git('gc', '--quiet', '--prune=now');
  return result;
}

describe('[57][58] salvage', () => {
  it('[57] keeps untracked, modified, staged and deleted files, and touches nothing of the worktree', async () => {
    const tree = await worker(world, repo, 'w01');
    tree.write('un tracked/ü "q"\n.txt', 'untracked\n');
    tree.write('staged.txt', 'staged\n');
    tree.git('add', 'staged.txt');
    tree.write('a.txt', 'modified\n');
    rmSync(join(tree.path, 'src/b.txt'));
    const before = fingerprint(tree.path, tree.git('rev-parse', '--absolute-git-dir'));
    const result = await salvage(tree);
    expect(fingerprint(tree.path, tree.git('rev-parse', '--absolute-git-dir'))).toEqual(before);
    expect(result).toEqual({
      ref: REF,
      commit: allRefs(repo)[REF],
      head: base,
      ignoredFiles: [],
      submodules: [],
      notKept: [],
    });
    await salvageAndDestroy(tree);
    expect(repo.git('ls-tree', '-r', '-z', '--name-only', REF).split('\0').filter(Boolean).sort()).toEqual([
      'a.txt',
      'staged.txt',
      'un tracked/ü "q"\n.txt',
    ]);
    expect([repo.git('show', `${REF}:a.txt`), repo.git('show', `${REF}:un tracked/ü "q"\n.txt`)]).toEqual([
      'modified',
      'untracked',
    ]);
  });

  it('[57] keeps what was staged where the file has changed since', async () => {
    const tree = await worker(world, repo, 'w01');
    tree.write('a.txt', 'the good one\n');
    tree.git('add', 'a.txt');
    tree.write('a.txt', 'spoiled\n');
    await salvageAndDestroy(tree);
    expect(repo.git('show', `${REF}:a.txt`)).toBe('spoiled');
    expect(repo.git('show', `${REF}^2:a.txt`)).toBe('the good one');
  });

  it('[57] keeps commits of the branch: the ref is then the commit itself', async () => {
    const tree = await worker(world, repo, 'w01');
    const commit = tree.commit('work', { 'w.txt': 'w\n' });
    expect(await salvageAndDestroy(tree)).toMatchObject({ commit });
    expect(repo.git('rev-parse', REF)).toBe(commit);
  });

  it('[57] keeps commits made on a detached HEAD that was left again, and amended ones', async () => {
    const tree = await worker(world, repo, 'w01');
    tree.git('checkout', '--quiet', '--detach');
    const detached = tree.commit('detached', { 'd.txt': 'd\n' });
    tree.git('checkout', '--quiet', 'agentorchestr/0123abcd/implementer-w01');
    const first = tree.commit('first try', { 'f.txt': '1\n' });
    tree.write('f.txt', '2\n');
    tree.git('commit', '--quiet', '--all', '--amend', '-m', 'second try');
    await salvageAndDestroy(tree);
    const kept = repo.git('rev-list', REF).split('\n');
    expect(kept).toEqual(expect.arrayContaining([detached, first]));
  });

  it('[57] keeps stashes made on the branch, even when the user then drops them, and leaves the stash list alone', async () => {
    repo.write('a.txt', 'of the user\n');
    repo.git('stash', '--quiet');
    const tree = await worker(world, repo, 'w01');
    tree.write('a.txt', 'stashed by the agent\n');
    tree.git('stash', '--quiet');
    const list = repo.git('stash', 'list');
    await salvage(tree);
    expect(repo.git('stash', 'list')).toBe(list);
    repo.git('stash', 'drop', '--quiet', 'stash@{0}');
    await salvageAndDestroy(tree);
    expect(repo.git('show', `${REF}^2:a.txt`)).toBe('stashed by the agent');
    expect(repo.git('rev-list', REF)).not.toContain(repo.git('rev-parse', 'stash@{0}'));
  });

  it("[57] keeps small ignored files that differ from the project's, as 0600 files outside git, and no others", async () => {
    repo.commit('rules', {
      '.gitignore': '.env*\n*.log\nnode_modules/\nbuild/\n',
      '.worktreeinclude': '.env*\nbuild/cache.db\n',
    });
    repo.write('.env', 'SECRET=1\n');
    repo.write('.env.same', 'same\n');
    base = repo.git('rev-parse', 'HEAD');
    const tree = await worker(world, repo, 'w01');
    await world.git.includeIgnored({ project: repo.path, worktree: tree.path });
    tree.write('.env', 'SECRET=2\n');
    tree.write('sub dir/.env.local', 'new\n');
    tree.write('node_modules/m/index.js', 'm\n');
    tree.write('build/cache.db', 'listed, in an ignored folder\n');
    tree.write('build/out.o', 'not listed\n');
    tree.write('huge.log', Buffer.alloc(2_000_000));
    symlinkSync('/etc/hostname', join(tree.path, 'link.log'));
    const result = await salvageAndDestroy(tree);
    expect(result).toMatchObject({
      ignoredFiles: ['.env', 'build/cache.db', 'sub dir/.env.local'],
      notKept: ['huge.log'],
    });
    expect(readFileSync(world.place('kept', '.env'), 'utf8')).toBe('SECRET=2\n');
    expect(statSync(world.place('kept', 'sub dir/.env.local')).mode & 0o777).toBe(0o600);
    expect(statSync(world.place('kept')).mode & 0o777).toBe(0o700);
    // A secret must never become a git object.
    expect(() =>
      repo.git('cat-file', '-e', repo.git('hash-object', '-t', 'blob', world.place('kept', '.env'))),
    ).toThrow(/Command failed/);
  });

  it('keeps an ignored file whose place an earlier salvage took for a folder', async () => {
    repo.commit('rules', { '.gitignore': 'local*\n', '.worktreeinclude': 'local*\n' });
    base = repo.git('rev-parse', 'HEAD');
    const tree = await worker(world, repo, 'w01');
    tree.write('local', 'a file now\n');
    mkdirSync(world.place('kept', 'local'), { recursive: true, mode: 0o700 });
    writeFileSync(world.place('kept', 'local', 'x'), 'kept before\n');
    expect(await salvage(tree)).toMatchObject({ ignoredFiles: ['local'], notKept: [] });
    expect(readFileSync(world.place('kept', 'local.1'), 'utf8')).toBe('a file now\n');
  });

  it('never overwrites what an earlier salvage kept', async () => {
    repo.commit('rules', { '.gitignore': '.env\n' });
    base = repo.git('rev-parse', 'HEAD');
    const tree = await worker(world, repo, 'w01');
    tree.write('.env', 'one\n');
    tree.write('w.txt', 'first\n');
    const first = await salvage(tree);
    tree.write('.env', 'two\n');
    tree.write('w.txt', 'second\n');
    const second = await salvage(tree);
    await salvage(tree);
    expect(readdirSync(world.place('kept')).sort()).toEqual(['.env', '.env.1']);
    expect(repo.git('rev-list', second?.commit ?? '')).toContain(first?.commit);
    expect(repo.git('show', `${first?.commit}:w.txt`)).toBe('first');
  });

  it('is null when there is nothing beyond the base', async () => {
    const tree = await worker(world, repo, 'w01');
    expect(await salvage(tree)).toBeNull();
    expect(Object.keys(allRefs(repo))).toEqual([
      'refs/heads/agentorchestr/0123abcd/implementer-w01',
      'refs/heads/main',
    ]);
  });

  it('keeps an open merge conflict as the files are', async () => {
    const tree = await worker(world, repo, 'w01');
    const other = repo.commit('theirs', { 'a.txt': 'theirs\n' });
    tree.commit('mine', { 'a.txt': 'mine\n' });
    expect(() => tree.git('merge', other)).toThrow(/CONFLICT|Command failed/);
    await salvageAndDestroy(tree);
    expect(repo.git('show', `${REF}:a.txt`)).toContain('<<<<<<<');
  });

  it('names what it cannot keep: repositories inside, unreadable files', async () => {
    const tree = await worker(world, repo, 'w01');
    mkdirSync(join(tree.path, 'inner'));
    const inner = world.at(join(tree.path, 'inner'));
    inner.git('init', '--quiet');
    inner.commit('inner', { 'i.txt': 'i\n' });
    tree.write('w.txt', 'kept\n');
    expect(await salvage(tree)).toMatchObject({ notKept: ['inner'] });
    expect(repo.git('show', `${REF}:w.txt`)).toBe('kept');
  });

  it('refuses a ref outside our own folder', async () => {
    const tree = await worker(world, repo, 'w01');
    const options = {
      repository: repo.repository,
      worktree: tree.path,
      base,
      keepIgnoredIn: world.place('kept'),
      project: repo.path,
    };
    for (const ref of ['refs/heads/main', 'main', '-d'])
      await expect(world.git.salvage({ ...options, ref })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });

  it("keeps work in a submodule, in the user's repository of that submodule", async () => {
    const inner = world.repo('inner');
    repo.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.path, 'sub');
    base = repo.commit('with a submodule');
    const before = fingerprint(repo.path, repo.repository);
    const tree = await worker(world, repo, 'w01');
    const sub = world.at(join(tree.path, 'sub'));
    expect(sub.read('a.txt')).toContain('one');
    expect(tree.git('status', '--porcelain')).toBe('');
    sub.write('a.txt', 'changed in the submodule\n');
    const result = await salvageAndDestroy(tree);
    expect(result?.notKept).toEqual([]);
    expect(world.at(join(repo.path, 'sub')).git('show', `${REF}:a.txt`)).toBe('changed in the submodule');
    delete before['git/packed-refs'];
    expect(fingerprint(repo.path, repo.repository)['git/config']).toBe(before['git/config']);
  });
});

describe('[C-47] includeIgnored', () => {
  const include = (tree: TestRepo, project = repo.path) =>
    world.git.includeIgnored({ project, worktree: tree.path });

  it('[C-47] brings exactly the ignored files that .worktreeinclude names, in its gitignore language', async () => {
    repo.commit('rules', {
      '.gitignore': '.env*\nnode_modules/\n/certs/\n',
      '.worktreeinclude': '# comment\n.env*\n!.env.prod\n/certs/*.pem\nsrc/\n',
    });
    for (const name of [
      '.env',
      'deep/er/.env.local',
      '.env.prod',
      'certs/a ü.pem',
      'certs/a.key',
      'node_modules/m.js',
    ])
      repo.write(name, `${name}\n`);
    repo.write('src/untracked-but-not-ignored.txt', 'x');
    const tree = await worker(world, repo, 'w01');
    expect([...(await include(tree))].sort()).toEqual(['.env', 'certs/a ü.pem', 'deep/er/.env.local']);
    expect(tree.read('deep/er/.env.local')).toBe('deep/er/.env.local\n');
    expect(tree.git('status', '--porcelain')).toBe('');
  });

  it('[C-47] never overwrites, never follows links out, never takes files of repositories or worktrees inside', async () => {
    repo.commit('rules', {
      '.gitignore': '.env*\nnested/\nlinked/\nabsolute\nout\nin\n',
      '.worktreeinclude': '*\n',
    });
    const outside = world.sandbox.folder('outside');
    writeFileSync(join(outside, 'secret'), 'secret');
    repo.write('.env', 'of the project\n');
    symlinkSync(join(outside, 'secret'), join(repo.path, 'absolute'));
    symlinkSync('../../outside/secret', join(repo.path, 'out'));
    symlinkSync('.env', join(repo.path, 'in'));
    symlinkSync(outside, join(repo.path, '.envdir'));
    mkdirSync(join(repo.path, 'nested'));
    const nested = world.at(join(repo.path, 'nested'));
    nested.git('init', '--quiet');
    nested.commit('x', { 'n.txt': 'n\n' });
    repo.git('worktree', 'add', '--quiet', '-b', 'side', join(repo.path, 'linked'));
    const tree = await worker(world, repo, 'w01');
    tree.write('.env', 'of the worker\n');
    expect(await include(tree)).toEqual(['in']);
    expect(tree.read('.env')).toBe('of the worker\n');
    // A link in the worktree must not lead our copy outside either.
    const other = await worker(world, repo, 'w02');
    repo.write('deep/.env.x', 'x');
    symlinkSync(outside, join(other.path, 'deep'));
    await include(other);
    expect(readdirSync(outside)).toEqual(['secret']);
  });

  it('works for a subdirectory project with a list of its own, and for a folder without git', async () => {
    repo.commit('rules', { '.gitignore': '.env\n', 'src/.worktreeinclude': '.env\n' });
    repo.write('src/.env', 'src\n');
    repo.write('.env', 'top\n');
    const tree = await worker(world, repo, 'w01');
    expect(await include(tree, join(repo.path, 'src'))).toEqual(['src/.env']);
    const plain = world.at(world.sandbox.folder('plain'));
    plain.write('.gitignore', 'data/\n');
    plain.write('.worktreeinclude', 'data/*.db\n');
    plain.write('data/x.db', 'x');
    const target = world.at(world.sandbox.folder('target'));
    expect(await include(target, plain.path)).toEqual(['data/x.db']);
    expect(existsSync(join(plain.path, '.git'))).toBe(false);
  });

  it('brings nothing without a list', async () => {
    repo.commit('rules', { '.gitignore': '.env\n' });
    repo.write('.env', 'x');
    expect(await include(await worker(world, repo, 'w01'))).toEqual([]);
  });
});
