import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LeftSession, contents } from '../../support/left-session.js';
import { allRefs, createGitWorld, fingerprint, registeredWorktrees } from '../../support/repo.js';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 60_000 });

const SALVAGE = 'refs/agentorchestr/salvage/0123abcd';

let session: LeftSession;
beforeEach(async () => {
  session = await LeftSession.create();
});
afterEach(() => session.close());

const ourRefs = () => Object.keys(allRefs(session.repo)).filter((name) => name.includes('agentorchestr'));

describe('clean', () => {
  it('removes worktrees, branches and folders of a session whose result is merged, and keeps no refs for it', async () => {
    const tree = await session.worker('w01');
    tree.commit('work', { 'w.txt': 'w\n' });
    await session.integrate(tree);
    session.end('done');
    session.repo.git('merge', '--quiet', session.integration.git('rev-parse', 'HEAD'));
    const before = fingerprint(session.repo.path, session.repo.repository);
    const report = await session.clean();
    expect(report).toMatchObject({ state: 'done', salvaged: [], left: [], resume_lost: null });
    expect(report.bytes).toBeGreaterThan(10_000);
    expect(ourRefs()).toEqual([]);
    expect(registeredWorktrees(session.repo)).toEqual([session.repo.path]);
    expect([session.worktrees, session.tempFolder, session.dataFolder].filter(existsSync)).toEqual([]);
    const after = fingerprint(session.repo.path, session.repo.repository);
    // Git writes its list of packed refs anew, empty, when it deletes a branch.
    delete after['git/packed-refs'];
    expect(after).toEqual(before);
    expect(session.store.session(session.sessionId)?.cleaned_at).not.toBeNull();
    expect(session.store.verifyRebuild()).toEqual([]);
  });

  it('leaves the result of a goal that was reached until it is merged', async () => {
    const tree = await session.worker('w01');
    tree.commit('work', { 'w.txt': 'w\n' });
    const commit = await session.integrate(tree);
    session.end('done');
    const report = await session.clean();
    expect(report.left).toEqual([
      {
        what: 'agentorchestr/0123abcd/integration',
        reason: 'the result is not merged yet: agentorchestr merge 0123abcd',
        bytes: 0,
      },
    ]);
    expect(ourRefs()).toEqual(['refs/heads/agentorchestr/0123abcd/integration']);
    expect(session.repo.git('rev-parse', 'agentorchestr/0123abcd/integration')).toBe(commit);
    expect(await session.call('merge')).toMatchObject({ already: false, commit });
    expect((await session.clean()).left).toEqual([]);
    expect(ourRefs()).toEqual([]);
    expect(session.repo.read('w.txt')).toBe('w\n');
  });

  it('keeps what a failed session integrated under a ref', async () => {
    const tree = await session.worker('w01');
    tree.commit('work', { 'w.txt': 'w\n' });
    const commit = await session.integrate(tree);
    session.end('failed');
    const report = await session.clean({ give_up: true });
    expect(report.salvaged.map(({ worker, ref }) => [worker, ref])).toEqual([
      ['integration', `${SALVAGE}/integration`],
    ]);
    expect(allRefs(session.repo)[`${SALVAGE}/integration`]).toBe(commit);
  });

  it.each(['paused', 'failed', 'timeout', 'crashed'] as const)(
    'refuses a session that is %s and could be resumed, says what would be lost, and changes nothing',
    async (state) => {
      const tree = await session.worker('w01');
      tree.write('un.txt', 'un\n');
      if (state !== 'crashed') session.end(state);
      const head = session.store.head();
      await expect(session.clean()).rejects.toMatchObject({
        code: 'SESSION_NOT_OVER',
        params: { state, problem: expect.stringContaining('the conversations of w01') as string },
      });
      expect(session.store.head()).toBe(head);
      expect(existsSync(tree.path)).toBe(true);
      expect(await session.clean({ dry_run: true })).toMatchObject({
        state,
        resume_lost: expect.stringContaining('w01') as string,
      });
      expect(session.store.head()).toBe(head);
      expect(await session.clean({ give_up: true })).toMatchObject({ left: [] });
      const status = await session.call('status', {}, true);
      expect(status['cleaned_at']).toEqual(expect.any(String));
    },
  );

  it('does nothing the second time, and keeps nothing twice', async () => {
    const tree = await session.worker('w01');
    tree.write('un.txt', 'un\n');
    session.end('done');
    await session.clean();
    const [refs, head] = [allRefs(session.repo), session.store.head()];
    expect(await session.clean()).toMatchObject({ removed: [], salvaged: [], left: [], bytes: 0 });
    expect([allRefs(session.repo), session.store.head()]).toEqual([refs, head]);
  });

  it('leaves what lies among its worktrees and is none of them, and says so', async () => {
    session.end('done');
    mkdirSync(join(session.worktrees, 'notes'));
    const report = await session.clean();
    expect(report.left).toMatchObject([
      { what: join(session.worktrees, 'notes'), reason: expect.stringContaining('no .git file') as string },
    ]);
    expect(existsSync(join(session.worktrees, 'notes'))).toBe(true);
  });

  it('keeps a large ignored file where it is, and says so', async () => {
    session.repo.commit('rules', { '.gitignore': '*.log\n' });
    const tree = await session.worker('w01');
    tree.git('merge', '--quiet', 'main');
    tree.write('huge.log', Buffer.alloc(2_000_000));
    session.end('done');
    const report = await session.clean();
    expect(report.left[0]).toMatchObject({ what: tree.path, reason: 'these cannot be kept: huge.log' });
    expect(statSync(join(tree.path, 'huge.log')).size).toBe(2_000_000);
  });

  it('removes worktrees of verifications that were cut off, and keeps what they hold', async () => {
    const path = join(session.worktrees, 'verify-12345678');
    const { repository } = session.repo;
    await session.world.git.createWorktree({ repository, path, branch: null, commit: session.base });
    session.world.at(path).write('out.txt', 'made by a command\n');
    session.end('done');
    const report = await session.clean();
    expect(report.salvaged.map(({ ref }) => ref)).toEqual([`${SALVAGE}/verify-12345678`]);
    expect(existsSync(path)).toBe(false);
  });

  it('ends agents of a supervisor that died before it looks at their work', async () => {
    const { spawn } = await import('node:child_process');
    const tree = await session.worker('w01');
    const child = spawn('sh', ['-c', 'while :; do date > busy.txt; sleep 0.01; done'], {
      cwd: tree.path,
      env: { ...session.env, AGENTORCHESTR_ATTEMPT: 'attempt-w01' },
      detached: true,
      stdio: 'ignore',
    });
    await vi.waitFor(() => expect(existsSync(join(tree.path, 'busy.txt'))).toBe(true));
    session.attempt('w01', 'attempt-w01');
    await session.clean({ give_up: true });
    expect(() => process.kill(child.pid ?? 0, 0)).toThrow(/ESRCH/);
    expect(existsSync(tree.path)).toBe(false);
  });
});

describe('clean where the project changed meanwhile', () => {
  it('leaves the files of worktrees whose repository is gone, and all the rest goes', async () => {
    const tree = await session.worker('w01');
    tree.write('un.txt', 'un\n');
    session.end('done');
    const files = contents(tree.path);
    rmSync(session.repo.path, { recursive: true });
    const report = await session.clean();
    expect(report.left.map(({ what }) => what)).toEqual([session.integration.path, tree.path]);
    expect(report.left[1]?.reason).toContain(`its repository ${session.repo.repository} is gone`);
    expect(contents(tree.path)).toEqual(files);
    expect([session.tempFolder, session.dataFolder].filter(existsSync)).toEqual([]);
  });

  it('finds a repository that was moved once its worktrees are repaired', async () => {
    const tree = await session.worker('w01');
    tree.write('un.txt', 'un\n');
    session.end('done');
    const moved = session.world.at(join(session.world.sandbox.root, 'user', 'moved'));
    renameSync(session.repo.path, moved.path);
    moved.git('worktree', 'repair', session.integration.path, tree.path);
    const report = await session.clean();
    expect(report.left).toEqual([]);
    expect(moved.git('show', `${SALVAGE}/w01:un.txt`)).toBe('un');
  });

  it('keeps every ignored file where the project folder is gone and nothing can be compared', async () => {
    await session.close();
    const world = createGitWorld();
    const bare = world.repo('bare.git', { bare: true });
    const seed = world.repo('seed');
    seed.commit('rules', { '.gitignore': '.env\n' });
    seed.git('push', '--quiet', bare.path, 'main');
    const checkout = world.at(join(world.sandbox.root, 'user', 'checkout'));
    bare.git('worktree', 'add', '--quiet', checkout.path, 'main');
    session = await LeftSession.create({
      world,
      repo: { ...bare, repository: bare.path },
      project: checkout.path,
    });
    const tree = await session.worker('w01');
    tree.write('.env', 'SECRET=1\n');
    session.end('done');
    rmSync(checkout.path, { recursive: true });
    const report = await session.clean();
    expect(report.left).toEqual([]);
    expect(readFileSync(session.kept('w01', '.env'), 'utf8')).toBe('SECRET=1\n');
  });
});

describe('clean of a folder that is no repository', () => {
  async function plainSession(): Promise<string> {
    await session.close();
    const world = createGitWorld();
    const plain = join(world.sandbox.root, 'user', 'plain');
    mkdirSync(plain, { recursive: true });
    world.at(plain).write('a.txt', 'one\n');
    session = await LeftSession.create({ world, project: plain });
    return plain;
  }

  it('keeps the private repository while it holds the only copy of something, and removes it after the merge', async () => {
    const plain = await plainSession();
    const tree = await session.worker('w01');
    tree.commit('work', { 'w.txt': 'w\n' });
    await session.integrate(tree);
    session.end('done');
    const repository = session.store.session(session.sessionId)?.repository ?? '';
    const first = await session.clean();
    expect(first.left.map(({ what }) => what)).toEqual(['agentorchestr/0123abcd/integration', repository]);
    expect(await session.call('merge')).toMatchObject({ already: false });
    expect(readFileSync(join(plain, 'w.txt'), 'utf8')).toBe('w\n');
    expect(await session.call('merge')).toMatchObject({ already: true, how: 'your folder has it already' });
    const second = await session.clean();
    expect(second.left.map(({ what }) => what)).toEqual([repository]);
    expect(existsSync(repository)).toBe(true);
  });

  it('brings uncommitted work back from there', async () => {
    await plainSession();
    const tree = await session.worker('w01');
    tree.write('un.txt', 'un\n');
    session.end('done');
    await session.clean();
    const to = join(session.world.sandbox.root, 'back');
    expect(await session.restore({ work: 'w01', to })).toMatchObject({ how: 'worktree', files: ['un.txt'] });
    expect(contents(to)).toEqual({
      'a.txt': expect.any(String) as string,
      'un.txt': expect.any(String) as string,
    });
  });
});
