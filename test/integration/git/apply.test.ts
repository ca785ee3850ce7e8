import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ProjectFacts, SessionBase } from '../../../src/git/contract.js';
import { integration } from '../../support/git-steps.js';
import { allRefs, createGitWorld, fingerprint, type GitWorld, type TestRepo } from '../../support/repo.js';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 60_000 });

const BRANCH = 'agentorchestr/0123abcd/integration';

let world: GitWorld;
let repo: TestRepo;
beforeEach(() => {
  world = createGitWorld();
  repo = world.repo();
});
afterEach(() => world.close());

interface Session {
  readonly facts: ProjectFacts;
  readonly base: SessionBase;
  readonly result: string;
}

/** A session from its base to a result that changes a.txt, adds new.txt and removes src/b.txt. */
async function session(
  options: { project?: string; includeChanges?: boolean; edit?: (tree: TestRepo) => void } = {},
): Promise<Session> {
  const facts = await world.git.inspectProject(options.project ?? repo.path);
  const base = await world.git.prepareBase({
    facts,
    sessionId: '0123abcd',
    includeChanges: options.includeChanges ?? false,
    fetch: false,
    importRoot: world.place('imported'),
  });
  const tree = await integration(world, { ...repo, repository: base.repository }, base.commit);
  const edit =
    options.edit ??
    ((target: TestRepo) => {
      target.write('a.txt', 'one\ntwo\nTHREE\n');
      target.write('new.txt', 'new\n');
      rmSync(join(target.path, 'src/b.txt'), { force: true });
    });
  edit(tree);
  return { facts, base, result: tree.commit('the result') };
}

const apply = ({ facts, base, result }: Session, includedChanges = false) =>
  world.git.applyToCheckout({ facts, base, resultCommit: result, resultBranch: BRANCH, includedChanges });

async function expectRefused(given: Session, reason: RegExp, includedChanges = false) {
  const { checkout, project, repository } = given.facts;
  const top = checkout ?? project;
  const before = [fingerprint(top, repository ?? top), repository === null ? {} : allRefs(repo)];
  const attempt = apply(given, includedChanges);
  await expect(attempt).rejects.toMatchObject({ code: 'CHECKOUT_NOT_SAFE' });
  await expect(attempt).rejects.toThrow(reason);
  expect([fingerprint(top, repository ?? top), repository === null ? {} : allRefs(repo)]).toEqual(before);
  return attempt.catch((error: unknown) => String((error as { params: { command: string } }).params.command));
}

describe('applyToCheckout by a merge', () => {
  it('fast-forwards a clean checkout', async () => {
    const given = await session();
    expect(await apply(given)).toEqual({ how: `main was fast-forwarded to ${given.result.slice(0, 7)}` });
    expect([repo.git('rev-parse', 'main'), repo.git('status', '--porcelain'), repo.read('new.txt')]).toEqual([
      given.result,
      '',
      'new\n',
    ]);
    expect(existsSync(join(repo.path, 'src/b.txt'))).toBe(false);
    expect(await apply(given)).toEqual({ how: 'your checkout has it already' });
  });

  it('goes past uncommitted, staged and untracked files that the result does not touch', async () => {
    repo.commit('more', { 'mine.txt': 'm\n' });
    const given = await session();
    repo.write('mine.txt', 'changed\n');
    repo.write('staged.txt', 'staged\n');
    repo.git('add', 'staged.txt');
    repo.write('untracked.txt', 'u\n');
    await apply(given);
    expect(repo.git('status', '--porcelain')).toBe(' M mine.txt\nA  staged.txt\n?? untracked.txt');
    expect([repo.read('mine.txt'), repo.read('a.txt')]).toEqual(['changed\n', 'one\ntwo\nTHREE\n']);
  });

  it.each([
    ['an uncommitted change', () => repo.write('a.txt', 'mine\n'), /you have changed too: a.txt/],
    [
      'a staged change',
      () => (repo.write('a.txt', 'mine\n'), repo.git('add', 'a.txt')),
      /you have changed too: a.txt/,
    ],
    ['an untracked file where a new one goes', () => repo.write('new.txt', 'mine\n'), /new.txt/],
    [
      'an ignored file where a new one goes',
      () => (repo.write('.git/info/exclude', 'new.txt\n'), repo.write('new.txt', 'mine\n')),
      /new.txt/,
    ],
    ['an untracked folder where a new file goes', () => repo.write('new.txt/inside', 'mine\n'), /new.txt/],
    ['a change in a file that is removed', () => repo.write('src/b.txt', 'mine\n'), /src\/b.txt/],
  ] as const)('refuses %s, and changes nothing', async (_name, edit, reason) => {
    const given = await session();
    edit();
    expect(await expectRefused(given, reason)).toBe(`git -C ${repo.path} merge ${BRANCH}`);
  });

  it('merges when the branch has moved on without conflict', async () => {
    const given = await session();
    const mine = repo.commit('mine', { 'mine.txt': 'm\n' });
    expect((await apply(given)).how).toMatch(/^merged into main as /);
    expect(repo.git('rev-parse', 'HEAD^1', 'HEAD^2')).toBe(`${mine}\n${given.result}`);
    expect(repo.git('log', '-1', '--format=%an|%s')).toBe(`Ursula User|Merge branch '${BRANCH}'`);
    expect(repo.git('status', '--porcelain')).toBe('');
  });

  it('refuses when the branch has moved on and conflicts, or files are staged beside a merge', async () => {
    const given = await session();
    repo.commit('mine', { 'mine.txt': 'm\n' });
    repo.write('staged.txt', 's\n');
    repo.git('add', 'staged.txt');
    await expectRefused(given, /staged: staged.txt/);
    repo.commit('conflicting', { 'a.txt': 'one\ntwo\ndrei\n' });
    await expectRefused(given, /conflicts in a.txt/);
  });

  it('refuses another branch, a detached HEAD, and a merge or rebase under way', async () => {
    const given = await session();
    repo.git('switch', '--quiet', '-c', 'other');
    await expectRefused(given, /it is on other now/);
    repo.git('checkout', '--quiet', '--detach');
    await expectRefused(given, /no branch/);
    repo.git('switch', '--quiet', 'main');
    writeFileSync(join(repo.repository, 'MERGE_HEAD'), `${given.result}\n`);
    await expectRefused(given, /a merge is under way/);
  });

  it("names a bare repository's own way", async () => {
    const bare = join(world.sandbox.root, 'user', 'bare.git');
    repo.git('clone', '--quiet', '--bare', repo.path, bare);
    const facts = await world.git.inspectProject(bare);
    const base = await world.git.prepareBase({
      facts,
      sessionId: '0123abcd',
      includeChanges: false,
      fetch: false,
      importRoot: world.place('imported'),
    });
    const tree = await integration(world, { ...repo, repository: bare }, base.commit);
    const result = tree.commit('result', { 'n.txt': 'n\n' });
    const attempt = world.git.applyToCheckout({
      facts,
      base,
      resultCommit: result,
      resultBranch: BRANCH,
      includedChanges: false,
    });
    await expect(attempt).rejects.toMatchObject({
      code: 'CHECKOUT_NOT_SAFE',
      params: { command: `git -C ${bare} fetch . ${BRANCH}:main` },
    });
    repo.git('-C', bare, 'fetch', '--quiet', '.', `${BRANCH}:main`);
    expect(repo.git('-C', bare, 'rev-parse', 'main')).toBe(result);
  });

  it('prints a command that a shell takes as it is', async () => {
    const odd = world.repo("it's odd; $(touch x)");
    const facts = await world.git.inspectProject(odd.path);
    const base = await world.git.prepareBase({
      facts,
      sessionId: '0123abcd',
      includeChanges: false,
      fetch: false,
      importRoot: world.place('imported'),
    });
    const tree = await integration(world, odd, base.commit);
    const result = tree.commit('result', { 'a.txt': 'changed\n' });
    odd.write('a.txt', 'mine\n');
    const attempt = world.git.applyToCheckout({
      facts,
      base,
      resultCommit: result,
      resultBranch: BRANCH,
      includedChanges: false,
    });
    const command = await attempt.catch((error: unknown) =>
      String((error as { params: { command: string } }).params.command),
    );
    odd.git('checkout', '--quiet', 'a.txt');
    const { execFileSync } = await import('node:child_process');
    execFileSync('sh', ['-c', command as string], { env: world.sandbox.env, stdio: 'ignore' });
    expect(odd.git('rev-parse', 'HEAD')).toBe(result);
  });
});

describe('applyToCheckout with included changes', () => {
  async function dirtySession() {
    repo.write('a.txt', 'uno\ntwo\nthree\n');
    repo.write('untracked.txt', 'u\n');
    repo.write('staged.txt', 's\n');
    repo.git('add', 'staged.txt');
    return session({
      includeChanges: true,
      edit(tree) {
        tree.write('a.txt', 'uno\ntwo\nTHREE\n');
        tree.write('untracked.txt', 'u\nmore\n');
        tree.write('bin.dat', Buffer.from([0, 1, 255, 254]));
        tree.write('run.sh', '#!/bin/sh\n');
        chmodSync(join(tree.path, 'run.sh'), 0o755);
      },
    });
  }

  it('brings the difference from the snapshot, uncommitted, and leaves index and history', async () => {
    const given = await dirtySession();
    const index = readFileSync(join(repo.repository, 'index'));
    expect(await apply(given, true)).toEqual({
      how: `4 changed files were brought into ${repo.path}, not committed`,
    });
    expect([repo.read('a.txt'), repo.read('untracked.txt'), repo.read('staged.txt')]).toEqual([
      'uno\ntwo\nTHREE\n',
      'u\nmore\n',
      's\n',
    ]);
    expect([...readFileSync(join(repo.path, 'bin.dat'))]).toEqual([0, 1, 255, 254]);
    expect(statSync(join(repo.path, 'run.sh')).mode & 0o111).not.toBe(0);
    expect(readFileSync(join(repo.repository, 'index')).equals(index)).toBe(true);
    expect(repo.git('rev-parse', 'HEAD')).toBe(given.facts.head);
  });

  it.each([
    [
      'a file changed since',
      () => repo.write('unrelated.txt', 'x\n'),
      /changed since the session began: unrelated.txt/,
    ],
    [
      'a commit was made since',
      () => repo.git('commit', '--quiet', '--allow-empty', '-m', 'x'),
      /HEAD moved/,
    ],
    ['the branch was left', () => repo.git('switch', '--quiet', '-c', 'other'), /on other now/],
  ] as const)('is refused when %s', async (_name, edit, reason) => {
    const given = await dirtySession();
    edit();
    await expectRefused(given, reason, true);
  });

  it('is a merge like any other when the tree was clean', async () => {
    const given = await session({ includeChanges: true });
    expect((await apply(given, true)).how).toContain('fast-forwarded');
  });
});

describe('[59] applyToCheckout for an imported folder', () => {
  async function plainSession() {
    const folder = world.at(world.sandbox.folder('plain ü'));
    folder.write('.gitignore', 'build/\n');
    folder.write('a.txt', 'one\ntwo\nthree\n');
    folder.write('src/b.txt', 'b\n');
    folder.write('build/keep.o', 'o\n');
    return { folder, given: await session({ project: folder.path }) };
  }

  it('[59] applies the difference to the folder, and makes no repository of it', async () => {
    const { folder, given } = await plainSession();
    folder.write('other.txt', 'changed meanwhile, not touched by the result\n');
    expect(await apply(given)).toEqual({
      how: `3 changed files were brought into ${folder.path}, not committed`,
    });
    expect([
      folder.read('a.txt'),
      folder.read('new.txt'),
      existsSync(join(folder.path, 'src/b.txt')),
      folder.read('build/keep.o'),
    ]).toEqual(['one\ntwo\nTHREE\n', 'new\n', false, 'o\n']);
    expect(existsSync(join(folder.path, '.git'))).toBe(false);
  });

  it('[59] refuses when a file that the result touches was changed, with a command that works', async () => {
    const { folder, given } = await plainSession();
    folder.write('a.txt', 'mine\n');
    const command = await expectRefused(given, /changed since the session began: a.txt/);
    folder.write('a.txt', 'one\ntwo\nthree\n');
    const { execFileSync } = await import('node:child_process');
    execFileSync('sh', ['-c', command as string], { env: world.sandbox.env, stdio: 'ignore' });
    expect(folder.read('a.txt')).toBe('one\ntwo\nTHREE\n');
  });

  it('[59] refuses an ignored file in the way', async () => {
    const { folder, given } = await plainSession();
    folder.write('.gitignore', 'build/\nnew.txt\n');
    folder.write('new.txt', 'precious\n');
    await expectRefused(given, /new.txt/);
    expect(folder.read('new.txt')).toBe('precious\n');
  });
});
