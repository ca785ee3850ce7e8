import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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

describe('predictConflicts', () => {
  type Edit = (side: TestRepo) => void;
  const cases: [string, Edit, Edit, string[]][] = [
    ['different files', (s) => s.write('x.txt', 'x\n'), (s) => s.write('y.txt', 'y\n'), []],
    ['nothing on one side (an ancestor)', () => undefined, (s) => s.write('y.txt', 'y\n'), []],
    [
      'the same change on both sides',
      (s) => s.write('a.txt', 'same\n'),
      (s) => s.write('a.txt', 'same\n'),
      [],
    ],
    [
      'different places of one file',
      (s) => s.write('long.txt', long(2)),
      (s) => s.write('long.txt', long(18)),
      [],
    ],
    [
      'the same line',
      (s) => s.write('a.txt', 'ONE\ntwo\nthree\n'),
      (s) => s.write('a.txt', 'uno\ntwo\nthree\n'),
      ['a.txt'],
    ],
    [
      'white space against text on the same line',
      (s) => s.write('a.txt', '  one\ntwo\nthree\n'),
      (s) => s.write('a.txt', 'uno\ntwo\nthree\n'),
      ['a.txt'],
    ],
    [
      'the same white space change twice',
      (s) => s.write('a.txt', ' one\ntwo\nthree\n'),
      (s) => s.write('a.txt', ' one\ntwo\nthree\n'),
      [],
    ],
    [
      'one name added with different content',
      (s) => s.write('new.txt', '1\n'),
      (s) => s.write('new.txt', '2\n'),
      ['new.txt'],
    ],
    [
      'rename against an edit elsewhere in the file',
      (s) => s.git('mv', 'long.txt', 'moved.txt'),
      (s) => s.write('long.txt', long(18)),
      [],
    ],
    [
      'rename to two names',
      (s) => s.git('mv', 'long.txt', 'm1.txt'),
      (s) => s.git('mv', 'long.txt', 'm2.txt'),
      ['long.txt', 'm1.txt', 'm2.txt'],
    ],
    [
      'delete against an edit',
      (s) => rmSync(join(s.path, 'a.txt')),
      (s) => s.write('a.txt', 'edited\n'),
      ['a.txt'],
    ],
    [
      'a file against a folder of the same name',
      (s) => s.write('thing', 'file\n'),
      (s) => s.write('thing/inside.txt', 'x\n'),
      [expect.stringMatching(/^thing/)],
    ],
  ];
  const long = (line: number) =>
    Array.from({ length: 20 }, (_, index) => (index === line ? `changed ${line}` : `line ${index}`)).join(
      '\n',
    );

  it.each(cases)('%s', async (_name, ours, theirs, conflicts) => {
    repo.commit('long', { 'long.txt': long(-1) });
    const [one, two] = [await worker(world, repo, 'w01'), await worker(world, repo, 'w02')];
    ours(one);
    theirs(two);
    const [a, b] = [one.commit('ours'), two.commit('theirs')];
    const before = [fingerprint(repo.path, repo.repository), allRefs(repo), objectCount(repo)];
    expect(await world.git.predictConflicts(repo.repository, a, b)).toEqual(conflicts);
    expect([fingerprint(repo.path, repo.repository), allRefs(repo), objectCount(repo)]).toEqual(before);
  });

  it.each(cases)('with a git that has no merge-tree: %s', async (_name, ours, theirs, conflicts) => {
    const old = createGitWorld({ binary: oldGit(world) });
    repo.commit('long', { 'long.txt': long(-1) });
    const [one, two] = [await worker(world, repo, 'w01'), await worker(world, repo, 'w02')];
    ours(one);
    theirs(two);
    const [a, b] = [one.commit('ours'), two.commit('theirs')];
    const before = [fingerprint(repo.path, repo.repository), allRefs(repo), objectCount(repo)];
    expect(await old.git.predictConflicts(repo.repository, a, b)).toEqual(conflicts);
    expect([fingerprint(repo.path, repo.repository), allRefs(repo), objectCount(repo)]).toEqual(before);
    await old.close();
  });

  it('with such a git, integrate gives the same result', async () => {
    const old = createGitWorld({ binary: oldGit(world) });
    const target = await integration(world, repo);
    const one = await worker(world, repo, 'w01');
    const commit = one.commit('work', { 'w.txt': 'w\n' });
    const result = await old.git.integrate({
      repository: repo.repository,
      worktree: target.path,
      commit,
      message: 'm',
      strategy: 'merge',
      base: 'main',
    });
    expect(result).toMatchObject({ merged: true, alreadyIn: false });
    expect([target.read('w.txt'), target.git('status', '--porcelain')]).toEqual(['w\n', '']);
    expect(repo.git('fsck', '--no-progress')).toBe('');
    await old.close();
  });
});

function objectCount(of: TestRepo): string {
  return of.git('count-objects');
}

/** The installed git, calling itself 2.30 and without `merge-tree --write-tree` and `worktree add --reason`. */
function oldGit(where: GitWorld): string {
  const path = join(where.sandbox.folder('old-git'), 'git');
  const script = `#!/bin/sh
for word in "$@"; do case "$word" in
  --version) echo "git version 2.30.2"; exit 0;;
  --write-tree|--reason) echo "unknown option $word" >&2; exit 129;;
esac; done
exec git "$@"
`;
  writeFileSync(path, script, { mode: 0o755 });
  return path;
}
