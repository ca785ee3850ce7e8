import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { worker } from '../../support/git-steps.js';
import {
  allRefs,
  createGitWorld,
  registeredWorktrees,
  type GitWorld,
  type TestRepo,
} from '../../support/repo.js';

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

const remove = (tree: TestRepo) =>
  world.git.removeWorktree({ repository: repo.repository, path: tree.path, trash: world.place('trash') });

describe('removeWorktree', () => {
  it('[58] frees name and entry at once, deletes in the background, and is content when nothing is there', async () => {
    const tree = await worker(world, repo, 'w01');
    await remove(tree);
    expect([existsSync(tree.path), registeredWorktrees(repo)]).toEqual([false, [repo.path]]);
    await world.git.idle();
    expect(readdirSync(world.place('trash'))).toEqual([]);
    await remove(tree);
    expect(Object.keys(allRefs(repo))).toContain('refs/heads/agentorchestr/0123abcd/implementer-w01');
  });

  it('deletes what an earlier process left in the trash, read-only folders included, and nothing else there', async () => {
    const tree = await worker(world, repo, 'w01');
    mkdirSync(world.place('trash', 'agentorchestr-trash-old', 'locked'), { recursive: true });
    writeFileSync(world.place('trash', 'agentorchestr-trash-old', 'locked', 'f'), '');
    chmodSync(world.place('trash', 'agentorchestr-trash-old', 'locked'), 0o500);
    mkdirSync(world.place('trash', 'of somebody else'));
    await remove(tree);
    await world.git.idle();
    expect(readdirSync(world.place('trash'))).toEqual(['of somebody else']);
  });

  it("leaves other entries alone: the user's missing worktree on a stick keeps its own", async () => {
    const theirs = join(world.sandbox.root, 'user', 'stick');
    repo.git('worktree', 'add', '--quiet', '-b', 'theirs', theirs);
    rmSync(theirs, { recursive: true });
    const tree = await worker(world, repo, 'w01');
    await remove(tree);
    expect(registeredWorktrees(repo)).toEqual([repo.path, theirs]);
  });

  it('refuses when an agent made another worktree inside, and never takes a repository for a worktree', async () => {
    const tree = await worker(world, repo, 'w01');
    const inside = join(tree.path, '.agent', 'nested');
    tree.git('worktree', 'add', '--quiet', '-b', 'nested', inside);
    await expect(remove(tree)).rejects.toThrow(/another worktree lies inside/);
    expect(existsSync(inside)).toBe(true);
    await expect(remove(repo)).rejects.toMatchObject({ code: 'GIT_FAILED' });
    expect(existsSync(join(repo.path, 'a.txt'))).toBe(true);
  });

  it('knows a worktree whose links were made relative, as newer gits do', async () => {
    const tree = await worker(world, repo, 'w01');
    const link = join(tree.path, '.git');
    const entry = readFileSync(link, 'utf8').replace('gitdir: ', '').trim();
    writeFileSync(link, `gitdir: ${relative(tree.path, entry)}\n`);
    writeFileSync(join(entry, 'gitdir'), `${relative(entry, link)}\n`);
    const wanted = { repository: repo.repository, path: tree.path, branch: null };
    expect(await world.git.locateWorktree(wanted)).toEqual({ state: 'present', path: tree.path });
    await remove(tree);
    expect(existsSync(entry)).toBe(false);
  });

  it('removes a locked worktree and one whose entry is broken', async () => {
    const tree = await worker(world, repo, 'w01');
    repo.git('worktree', 'lock', tree.path);
    await remove(tree);
    const other = await worker(world, repo, 'w02');
    writeFileSync(join(repo.repository, 'worktrees', 'w02', 'HEAD'), '');
    await remove(other);
    expect(registeredWorktrees(repo)).toEqual([repo.path]);
  });
});

describe('deleteBranch', () => {
  it('deletes ours, is content when it is gone, refuses others and what is checked out', async () => {
    const tree = await worker(world, repo, 'w01');
    const branch = tree.made.branch ?? '';
    await expect(world.git.deleteBranch({ repository: repo.repository, branch })).rejects.toMatchObject({
      code: 'GIT_FAILED',
    });
    await remove(tree);
    await world.git.deleteBranch({ repository: repo.repository, branch });
    await world.git.deleteBranch({ repository: repo.repository, branch });
    repo.git('branch', 'mine');
    await expect(
      world.git.deleteBranch({ repository: repo.repository, branch: 'mine' }),
    ).rejects.toMatchObject({ code: 'BRANCH_IN_USE' });
    expect(Object.keys(allRefs(repo))).toEqual(['refs/heads/main', 'refs/heads/mine']);
  });
});

describe('a repository that was moved', () => {
  it('still gives up its work: the worktree is repaired by hand, salvage works as before', async () => {
    const tree = await worker(world, repo, 'w01');
    tree.write('w.txt', 'w\n');
    const moved = join(world.sandbox.root, 'user', 'moved');
    renameSync(repo.path, moved);
    const there = world.at(moved);
    await expect(
      world.git.salvage({
        repository: there.repository,
        worktree: tree.path,
        base,
        ref: REF,
        keepIgnoredIn: world.place('kept'),
        project: moved,
      }),
    ).rejects.toMatchObject({ code: 'GIT_FAILED' });
    there.git('worktree', 'repair', tree.path);
    await world.git.salvage({
      repository: there.repository,
      worktree: tree.path,
      base,
      ref: REF,
      keepIgnoredIn: world.place('kept'),
      project: moved,
    });
    expect(there.git('show', `${REF}:w.txt`)).toBe('w');
  });
});
