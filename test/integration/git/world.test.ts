import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { integration, worker } from '../../support/git-steps.js';
import { allRefs, createGitWorld, fingerprint, type GitWorld, type TestRepo } from '../../support/repo.js';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 60_000 });

let world: GitWorld;
let repo: TestRepo;
beforeEach(() => {
  world = createGitWorld();
  repo = world.repo();
});
afterEach(() => world.close());

/** A clone with everything a user may have in it: hooks that fail, stash, tags, excludes, settings that ask for trouble. */
function livedIn(): TestRepo {
  const origin = world.repo('origin');
  const path = join(world.sandbox.root, 'user', 'lived-in');
  origin.git('clone', '--quiet', origin.path, path);
  const clone = world.at(path);
  clone.git('branch', 'feature');
  clone.git('tag', '-a', '-m', 'tagged', 'v1');
  clone.write('a.txt', 'stashed\n');
  clone.git('stash', '--quiet');
  for (const [key, value] of [
    ['core.fsmonitor', 'false-and-missing'],
    ['branch.autoSetupMerge', 'always'],
    ['commit.gpgSign', 'true'],
    ['gpg.program', 'false'],
    ['rerere.enabled', 'true'],
    ['status.showUntrackedFiles', 'no'],
    ['diff.noprefix', 'true'],
    ['diff.external', 'false'],
    ['submodule.recurse', 'true'],
    ['merge.ff', 'only'],
    ['gc.auto', '1'],
  ] as const)
    clone.git('config', key, value);
  mkdirSync(join(clone.repository, 'hooks'), { recursive: true });
  for (const hook of [
    'pre-commit',
    'post-checkout',
    'post-merge',
    'reference-transaction',
    'post-index-change',
    'pre-auto-gc',
  ])
    writeFileSync(
      join(clone.repository, 'hooks', hook),
      `#!/bin/sh\necho poisoned > '${path}/poison'\nexit 1\n`,
      { mode: 0o755 },
    );
  writeFileSync(join(clone.repository, 'info', 'exclude'), '*.private\n');
  clone.write('dirty.txt', 'uncommitted\n');
  clone.write('notes.private', 'x\n');
  clone.write('a.txt', 'dirty\n');
  utimesSync(join(path, 'src/b.txt'), 1, 1);
  return clone;
}

describe("the user's world", () => {
  it('[C-50] is byte for byte the same after a whole session: base, spawns, commits, integration, diffs, salvage, removal', async () => {
    const clone = livedIn();
    const before = [fingerprint(clone.path, clone.repository), allRefs(clone)];
    const { git } = world;
    const facts = await git.inspectProject(clone.path);
    const base = await git.prepareBase({
      facts,
      sessionId: '0123abcd',
      includeChanges: false,
      fetch: false,
      importRoot: world.place('imported'),
    });
    await git.agentGitEnvironment({ project: clone.path, directory: world.place('private') });
    const target = await integration(world, clone, base.commit);
    const workers = await Promise.all(
      ['w01', 'w02', 'w03'].map((id) => worker(world, clone, id, base.commit)),
    );
    await expect(worker(world, clone, 'w01', base.commit)).rejects.toMatchObject({ code: 'BRANCH_IN_USE' });
    for (const [index, one] of workers.entries()) {
      await git.includeIgnored({ project: clone.path, worktree: one.path });
      one.write(`f${index}.txt`, 'x\n');
      one.write('a.txt', `${index}\n`);
    }
    expect(
      await git.overlaps({
        repository: base.repository,
        base: base.commit,
        trees: workers.map((one, index) => ({ id: `w0${index + 1}`, worktree: one.path })),
      }),
    ).toHaveLength(3);
    for (const one of workers) {
      const commit = await git.commitAll(one.path, 'work');
      await git.diff({ worktree: one.path, base: base.commit, statOnly: false, maxBytes: 100_000 });
      await git.predictConflicts(base.repository, target.git('rev-parse', 'HEAD'), commit ?? '');
      await git.integrate({
        repository: base.repository,
        worktree: target.path,
        commit: commit ?? '',
        message: 'm',
        strategy: 'merge',
        base: base.commit,
      });
      one.write('left.txt', 'x\n');
      await git.salvage({
        repository: base.repository,
        worktree: one.path,
        base: base.commit,
        ref: `refs/agentorchestr/salvage/0123abcd/${one.made.branch?.slice(-3)}`,
        keepIgnoredIn: world.place('kept'),
        project: clone.path,
      });
    }
    const result = target.git('rev-parse', 'HEAD');
    await expect(
      git.applyToCheckout({
        facts,
        base,
        resultCommit: result,
        resultBranch: 'agentorchestr/0123abcd/integration',
        includedChanges: false,
      }),
    ).rejects.toMatchObject({ code: 'CHECKOUT_NOT_SAFE' });
    for (const one of [target, ...workers])
      await git.removeWorktree({ repository: base.repository, path: one.path, trash: world.place('trash') });
    for (const name of Object.keys(allRefs(clone)).filter((ref) =>
      ref.startsWith('refs/heads/agentorchestr/'),
    ))
      await git.deleteBranch({ repository: base.repository, branch: name.slice('refs/heads/'.length) });
    await git.idle();
    const ours = Object.entries(allRefs(clone)).filter(([name]) => !name.startsWith('refs/agentorchestr/'));
    expect([fingerprint(clone.path, clone.repository), Object.fromEntries(ours)]).toEqual(before);
  });

  it('is the same after ten parallel spawns', async () => {
    const before = fingerprint(repo.path, repo.repository);
    await Promise.all(
      Array.from({ length: 10 }, (_, index) => worker(world, repo, `w${String(index).padStart(2, '0')}`)),
    );
    expect(fingerprint(repo.path, repo.repository)).toEqual(before);
  });
});

describe('diff', () => {
  it('shows committed, staged, unstaged, untracked, renamed and binary changes since the base, and changes nothing', async () => {
    repo.commit('long', { 'long.txt': 'line\n'.repeat(50) });
    const base = repo.git('rev-parse', 'HEAD');
    const tree = await worker(world, repo, 'w01');
    repo.commit('the base moves on', { 'moved-on.txt': 'x\n' });
    tree.commit('committed', { 'committed.txt': 'c\n' });
    tree.git('mv', 'long.txt', 'ren\tamed\n.txt');
    tree.write('staged.txt', 's\n');
    tree.git('add', 'staged.txt');
    tree.write('a.txt', 'one\n');
    tree.write('bin.dat', Buffer.from([0, 1, 2]));
    tree.write('untracked ü.txt', 'u\n');
    const directory = tree.git('rev-parse', '--absolute-git-dir');
    const before = [fingerprint(tree.path, directory), repo.git('count-objects')];
    const diff = await world.git.diff({
      worktree: tree.path,
      base: repo.git('rev-parse', 'main'),
      statOnly: false,
      maxBytes: 100_000,
    });
    expect([fingerprint(tree.path, directory), repo.git('count-objects')]).toEqual(before);
    expect([...diff.files].sort((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
      { path: 'a.txt', added: 0, removed: 2 },
      { path: 'bin.dat', added: null, removed: null },
      { path: 'committed.txt', added: 1, removed: 0 },
      { path: 'ren\tamed\n.txt', added: 0, removed: 0 },
      { path: 'staged.txt', added: 1, removed: 0 },
      { path: 'untracked ü.txt', added: 1, removed: 0 },
    ]);
    expect(diff.text).toContain('diff --git a/a.txt b/a.txt');
    expect(diff.truncated).toBe(false);
    expect(await world.git.diff({ worktree: tree.path, base, statOnly: true, maxBytes: 1 })).toMatchObject({
      text: '',
      truncated: false,
    });
    const cut = await world.git.diff({ worktree: tree.path, base, statOnly: false, maxBytes: 50 });
    expect([cut.truncated, cut.text.length]).toEqual([true, 50]);
  });
});

describe('overlaps', () => {
  it('compares uncommitted work pairwise and tells files in common from real conflicts', async () => {
    repo.commit('long', { 'long.txt': Array.from({ length: 30 }, (_, index) => `line ${index}`).join('\n') });
    const base = repo.git('rev-parse', 'HEAD');
    const [one, two, three] = [
      await worker(world, repo, 'w01'),
      await worker(world, repo, 'w02'),
      await worker(world, repo, 'w03'),
    ];
    one.write('long.txt', one.read('long.txt').replace('line 2\n', 'TWO\n'));
    two.write('long.txt', two.read('long.txt').replace('line 25\n', 'TWENTY-FIVE\n'));
    two.write('a.txt', 'two\n');
    three.commit('committed', { 'a.txt': 'three\n' });
    rmSync(join(three.path, 'src/b.txt'));
    const trees = [one, two, three].map((tree, index) => ({ id: `w0${index + 1}`, worktree: tree.path }));
    const before = [
      trees.map((tree) => fingerprint(tree.worktree, tree.worktree)),
      repo.git('count-objects'),
      allRefs(repo),
    ];
    expect(await world.git.overlaps({ repository: repo.repository, base, trees })).toEqual([
      { a: 'w01', b: 'w02', files: ['long.txt'], conflicts: [] },
      { a: 'w02', b: 'w03', files: ['a.txt'], conflicts: ['a.txt'] },
    ]);
    expect([
      trees.map((tree) => fingerprint(tree.worktree, tree.worktree)),
      repo.git('count-objects'),
      allRefs(repo),
    ]).toEqual(before);
  });
});

describe('any file name', () => {
  const segment = fc
    .string({
      unit: fc.constantFrom(
        'a',
        'B',
        ' ',
        '"',
        "'",
        '\\',
        '\n',
        '\t',
        '-',
        ':',
        '*',
        '?',
        '[',
        '!',
        '#',
        '$',
        'ü',
        '日',
        '.',
        '(',
        ')',
      ),
      minLength: 1,
      maxLength: 12,
    })
    .filter((name) => !/^\.{1,2}$/.test(name) && !/^\.git/i.test(name));

  it('survives status, commit, integration, diff and salvage', async () => {
    const target = await integration(world, repo);
    const tree = await worker(world, repo, 'w01');
    let round = 0;
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(segment, { minLength: 1, maxLength: 5 }), async (names) => {
        round += 1;
        const paths = names.map((name) => `r${round}/${name}`);
        for (const path of paths) tree.write(path, `${round}\n`);
        const base = target.git('rev-parse', 'HEAD');
        expect((await world.git.status(tree.path, base)).changedFiles).toEqual([...paths].sort());
        const commit = (await world.git.commitAll(tree.path, 'any')) ?? '';
        const diff = await world.git.diff({ worktree: tree.path, base, statOnly: true, maxBytes: 1 });
        expect(diff.files.map((file) => file.path).sort()).toEqual([...paths].sort());
        await world.git.integrate({
          repository: repo.repository,
          worktree: target.path,
          commit,
          message: 'm',
          strategy: 'merge',
          base,
        });
        for (const path of paths) expect(target.read(path)).toBe(`${round}\n`);
      }),
      { numRuns: 8 },
    );
  });
});
