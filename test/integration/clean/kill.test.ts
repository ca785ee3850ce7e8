import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { compiledRoot } from '../../support/compiled.js';
import { stallingGit } from '../../support/git-steps.js';
import { contents, LeftSession, type LeftTree } from '../../support/left-session.js';
import { allRefs, fingerprint, registeredWorktrees } from '../../support/repo.js';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const KEPT = 'refs/agentorchestr/salvage/0123abcd/w01';

let session: LeftSession;
let launcher: string;
beforeEach(async () => {
  launcher = join(await compiledRoot(), 'bin/agentorchestr.cjs');
  session = await LeftSession.create();
});
afterEach(() => session.close());

/** The command as a process of its own, which can be killed. */
function startClean(env: Record<string, string> = {}, ...flags: string[]): ChildProcess {
  const args = [launcher, 'clean', session.sessionId, '--yes', '--json', ...flags];
  return spawn(process.execPath, args, {
    env: { ...session.env, ...env },
    cwd: session.repo.path,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
}

async function finished(child: ChildProcess): Promise<{ code: unknown; stdout: string; stderr: string }> {
  let [stdout, stderr] = ['', ''];
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const code = await new Promise((resolve) => child.once('close', resolve));
  return { code, stdout, stderr };
}

/** One worker with everything at once, one that is integrated. */
async function leaveWork(): Promise<{ tree: LeftTree; files: Record<string, string>; commits: string[] }> {
  session.repo.commit('rules', { '.gitignore': '.env\n' });
  const done = await session.worker('w02');
  done.commit('done', { 'done.txt': 'd\n' });
  await session.integrate(done);
  const tree = await session.worker('w01');
  const first = tree.commit('first', { '.gitignore': '.env\n', 'f.txt': '1\n' });
  tree.write('f.txt', 'staged\n');
  tree.git('add', 'f.txt');
  tree.write('f.txt', 'and changed\n');
  tree.write('un.txt', 'un\n');
  tree.write('.env', 'SECRET\n');
  session.end('failed');
  return { tree, files: contents(tree.path), commits: [first] };
}

const giveUp = () => session.clean({ give_up: true });

async function expectAllKept(work: Awaited<ReturnType<typeof leaveWork>>): Promise<void> {
  session.collectGarbage();
  const to = join(session.world.sandbox.root, 'restored');
  await session.restore({ work: 'w01', to });
  expect(contents(to)).toEqual(work.files);
  expect(session.world.at(to).git('show', ':f.txt')).toBe('staged');
  expect(session.world.at(to).git('rev-parse', 'HEAD')).toBe(work.commits[0]);
  expect(session.repo.git('show', 'refs/agentorchestr/salvage/0123abcd/integration:done.txt')).toBe('d');
  expect(Object.keys(allRefs(session.repo)).filter((name) => name.includes('heads/agentorchestr'))).toEqual(
    [],
  );
  expect(registeredWorktrees(session.repo)).toEqual([session.repo.path, to]);
  const trash = join(session.paths.data, 'trash');
  expect(existsSync(trash) ? contents(trash) : {}).toEqual({});
  expect([session.worktrees, session.tempFolder].filter(existsSync)).toEqual([]);
}

describe('[C-40] clean that is killed', () => {
  it.each([
    ['write-tree', 'before'],
    ['commit-tree', 'after'],
    ['update-ref', 'before'],
    ['update-ref', 'after'],
    ['for-each-ref', 'before'],
    ['--delete', 'before'],
    ['--delete', 'after'],
  ] as const)(
    '[C-40] with -9, %s %s its git runs, loses nothing, and goes on when it is called again',
    async (step, when) => {
      const work = await leaveWork();
      const user = fingerprint(session.repo.path, session.repo.repository);
      const shim = stallingGit(session.world, step, when);
      // A failed session is cleaned only when that is said.
      const child = startClean(shim.env, '--give-up');
      await shim.reached();
      process.kill(-(child.pid ?? 0), 'SIGKILL');
      await new Promise((resolve) => child.once('close', resolve));
      // What a killed git of ours leaves there is swept after a day.
      for (const name of readdirSync(session.world.sandbox.temp))
        if (name.startsWith('agentorchestr-git-'))
          rmSync(join(session.world.sandbox.temp, name), { recursive: true });
      const report = await giveUp();
      expect(report.left).toEqual([]);
      const after = fingerprint(session.repo.path, session.repo.repository);
      for (const prints of [user, after]) delete prints['git/packed-refs'];
      expect(after).toEqual(user);
      await expectAllKept(work);
      const cleaned = session.store.events({ after: 0, types: ['session.cleaned'], limit: 10 });
      expect(cleaned).toHaveLength(1);
    },
  );

  it.each(['before it removes', 'in the middle of removing'] as const)(
    '[C-40] %s what it kept, keeps the same work once',
    async (when) => {
      const work = await leaveWork();
      const shim = stallingGit(session.world, 'update-ref', 'after');
      const child = startClean(shim.env, '--give-up');
      await shim.reached();
      process.kill(-(child.pid ?? 0), 'SIGKILL');
      await new Promise((resolve) => child.once('close', resolve));
      const refs = allRefs(session.repo);
      expect(refs).toHaveProperty([KEPT]);
      if (when === 'in the middle of removing') {
        const trash = join(session.paths.data, 'trash');
        mkdirSync(trash, { recursive: true, mode: 0o700 });
        renameSync(work.tree.path, join(trash, 'agentorchestr-trash-w01-0123'));
      }
      await giveUp();
      const kept = (all: Record<string, string>) =>
        Object.entries(all).filter(([name]) => name.includes('salvage') && name in refs);
      expect(kept(allRefs(session.repo))).toEqual(kept(refs));
      await expectAllKept(work);
    },
  );
});

describe('two cleans at once', () => {
  it('[C-40] of one session: both end well, and everything is kept once', async () => {
    const work = await leaveWork();
    session.end('done');
    const outcomes = await Promise.all([finished(startClean()), finished(startClean())]);
    expect(outcomes.map(({ code, stderr }) => [code, stderr])).toEqual([
      [0, ''],
      [0, ''],
    ]);
    const removed = outcomes.flatMap(({ stdout }) => {
      const { sessions } = JSON.parse(stdout) as { sessions: { removed: { name: string }[] }[] };
      return sessions.flatMap((one) => one.removed.map(({ name }) => name));
    });
    expect(removed.filter((name) => name === work.tree.path)).toHaveLength(1);
    const to = join(session.world.sandbox.root, 'restored');
    await session.restore({ work: 'w01', to });
    expect(contents(to)).toEqual(work.files);
  });

  it('[C-40] of two sessions on one repository that hold the same commit: it stays under a ref', async () => {
    const other = await LeftSession.create({
      world: session.world,
      repo: session.repo,
      sessionId: '4567cdef',
    });
    const [one, two] = [await session.worker('w01'), await other.worker('w01')];
    const commit = one.commit('shared', { 's.txt': 's\n' });
    two.git('merge', '--quiet', '--ff-only', commit);
    session.end('done');
    other.end('done');
    await Promise.all([session.clean(), other.clean()]);
    other.store.close();
    session.collectGarbage();
    expect(Object.values(allRefs(session.repo))).toContain(commit);
  });
});
