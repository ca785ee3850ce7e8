import {
  chmodSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { WorkerState } from '../../../src/core/state/states.js';
import type { CleanReport } from '../../../src/services/supervise/clean-report.js';
import { contents, LeftSession, type LeftTree } from '../../support/left-session.js';
import { allRefs, createGitWorld, fingerprint, registeredWorktrees } from '../../support/repo.js';

vi.setConfig({ testTimeout: 600_000, hookTimeout: 60_000 });

/** What must be found again after the worktree is gone. */
interface Left {
  /** Commits that must stay reachable from the ref. */
  readonly commits?: readonly string[];
  /** The whole worktree, byte for byte; null where its files were gone before. */
  readonly files: Record<string, string> | null;
  /** What was staged: path and content. */
  readonly staged?: readonly (readonly [path: string, content: string])[];
  /** Files outside git, by name. */
  readonly ignored?: Record<string, string>;
  /** It stays where it is, at this path. */
  readonly stays?: string;
}

interface Cell {
  readonly content: string;
  prepare(tree: LeftTree, session: LeftSession): Left | Promise<Left>;
}

const BINARY = Buffer.from([0, 255, 13, 10, 0, 1, 2, 254]);

const CELLS: readonly Cell[] = [
  { content: 'clean', prepare: (tree) => ({ files: contents(tree.path) }) },
  {
    content: 'committed, not integrated',
    prepare: (tree) => ({ commits: [tree.commit('work', { 'w.txt': 'w\n' })], files: contents(tree.path) }),
  },
  {
    content: 'uncommitted',
    prepare: (tree) => {
      tree.write('a.txt', 'changed\n');
      rmSync(join(tree.path, 'src/b.txt'));
      chmodSync(join(tree.path, '.gitignore'), 0o755);
      return { files: contents(tree.path) };
    },
  },
  {
    content: 'staged, and changed since',
    prepare: (tree) => {
      tree.write('a.txt', 'the good one\n');
      tree.git('add', 'a.txt');
      tree.write('a.txt', 'spoiled\n');
      return { files: contents(tree.path), staged: [['a.txt', 'the good one']] };
    },
  },
  {
    content: 'untracked: binary, executable, link, odd name',
    prepare: (tree) => {
      tree.write('un tracked/ü "q"\n.bin', BINARY);
      tree.write('run.sh', '#!/bin/sh\n');
      chmodSync(join(tree.path, 'run.sh'), 0o755);
      symlinkSync('../nowhere', join(tree.path, 'link'));
      return { files: contents(tree.path) };
    },
  },
  {
    content: 'ignored but precious',
    prepare: (tree) => {
      tree.write('.env', 'SECRET=2\n');
      tree.write('deep/er/.env', BINARY);
      return { files: contents(tree.path), ignored: { '.env': 'SECRET=2\n' } };
    },
  },
  {
    content: 'merge in progress',
    prepare: (tree) => {
      const tip = looseCommit(tree, 'theirs\n');
      const mine = tree.commit('mine', { 'a.txt': 'mine\n' });
      expect(() => tree.git('merge', tip)).toThrow(/CONFLICT|Command failed/);
      return { commits: [mine, tip], files: contents(tree.path) };
    },
  },
  {
    content: 'rebase in progress',
    prepare: (tree) => {
      const onto = looseCommit(tree, 'onto\n');
      const mine = tree.commit('mine', { 'a.txt': 'mine\n' });
      expect(() => tree.git('rebase', onto)).toThrow(/CONFLICT|Command failed/);
      return { commits: [mine, onto], files: contents(tree.path) };
    },
  },
  {
    content: 'detached HEAD',
    prepare: (tree) => {
      const onBranch = tree.commit('on the branch', { 'b1.txt': '1\n' });
      tree.git('checkout', '--quiet', '--detach', 'HEAD~1');
      const detached = tree.commit('detached', { 'd.txt': 'd\n' });
      tree.write('un.txt', 'un\n');
      return { commits: [onBranch, detached], files: contents(tree.path) };
    },
  },
  {
    content: 'commits left behind by amend and reset',
    prepare: (tree) => {
      const first = tree.commit('first try', { 'f.txt': '1\n' });
      tree.write('f.txt', '2\n');
      tree.git('commit', '--quiet', '--all', '--amend', '-m', 'second try');
      const second = tree.git('rev-parse', 'HEAD');
      tree.git('reset', '--quiet', '--hard', 'HEAD~1');
      return { commits: [first, second], files: contents(tree.path) };
    },
  },
  {
    content: 'branch deleted under it',
    prepare: (tree) => {
      const commit = tree.commit('work of a branch deleted', { 'w.txt': 'w\n' });
      tree.git('update-ref', '-d', `refs/heads/${tree.branch}`);
      tree.write('un.txt', 'un\n');
      return { commits: [commit], files: contents(tree.path) };
    },
  },
  {
    content: 'moved away with git',
    prepare: (tree, { world, repo }) => {
      tree.write('un.txt', 'un\n');
      const to = join(world.sandbox.root, 'user', `moved-${tree.workerId}`);
      repo.git('worktree', 'move', tree.path, to);
      return { files: contents(to), stays: to };
    },
  },
  {
    content: 'renamed by hand',
    prepare: (tree) => {
      tree.write('un.txt', 'un\n');
      const commit = tree.commit('work of a folder renamed', { 'w.txt': 'w\n' });
      tree.write('un2.txt', 'un\n');
      renameSync(tree.path, `${tree.path}-renamed`);
      return { commits: [commit], files: contents(`${tree.path}-renamed`) };
    },
  },
  {
    content: 'removed by hand',
    prepare: (tree) => {
      tree.git('checkout', '--quiet', '--detach');
      const commit = tree.commit('work of a folder removed', { 'w.txt': 'w\n' });
      tree.write('staged.txt', 'staged\n');
      tree.git('add', 'staged.txt');
      rmSync(tree.path, { recursive: true });
      return { commits: [commit], files: null, staged: [['staged.txt', 'staged']] };
    },
  },
  {
    content: 'index locked',
    prepare: (tree) => {
      tree.write('un.txt', 'un\n');
      const lock = join(tree.git('rev-parse', '--absolute-git-dir'), 'index.lock');
      writeFileSync(lock, '');
      return { files: contents(tree.path) };
    },
  },
  {
    content: 'stash',
    prepare: (tree) => {
      tree.write('a.txt', 'stashed\n');
      tree.git('stash', '--quiet');
      return { commits: [tree.git('rev-parse', 'stash@{0}')], files: contents(tree.path) };
    },
  },
  {
    content: 'file that git was told to look away from',
    prepare: (tree) => {
      tree.git('update-index', '--skip-worktree', 'a.txt');
      tree.git('update-index', '--assume-unchanged', 'src/b.txt');
      tree.write('a.txt', 'changed unseen\n');
      tree.write('src/b.txt', 'changed unseen too\n');
      return { files: contents(tree.path) };
    },
  },
  {
    content: 'repository of its own inside',
    prepare: (tree, { world }) => {
      tree.write('inner/x.txt', 'x\n');
      const inner = world.at(join(tree.path, 'inner'));
      inner.git('init', '--quiet');
      inner.commit('inner', {});
      return { files: contents(tree.path), stays: tree.path };
    },
  },
];

/** A commit that no ref and no reflog knows. */
function looseCommit(tree: LeftTree, content: string): string {
  tree.git('checkout', '--quiet', '--detach');
  const commit = tree.commit('loose', { 'a.txt': content });
  tree.git('checkout', '--quiet', tree.branch);
  tree.git('reflog', 'expire', '--expire=now', '--expire-unreachable=now', 'HEAD');
  return commit;
}

/** How a session was left, and the states of its workers, in turn. */
const LEFT: readonly {
  how: string;
  end: 'done' | 'failed' | 'paused' | null;
  states: readonly WorkerState[];
}[] = [
  { how: 'done, its workers have exited', end: 'done', states: ['exited'] },
  { how: 'crashed, its workers at work', end: null, states: ['working'] },
  { how: 'paused, its workers waiting', end: 'paused', states: ['waiting'] },
  { how: 'failed, its workers idle, lost or starting', end: 'failed', states: ['idle', 'lost', 'starting'] },
];

let session: LeftSession;
beforeEach(async () => {
  const world = createGitWorld();
  const repo = world.repo();
  repo.commit('rules', { '.gitignore': '.env\n' });
  repo.write('.env', 'SECRET=1\n');
  repo.write('of the user.txt', 'untracked\n');
  session = await LeftSession.create({ world, repo });
});
afterEach(() => session.close());

/** Whether everything of a cell is found again, by what clean printed. */
async function recovered(tree: LeftTree, left: Left, report: CleanReport): Promise<string> {
  const { repo } = session;
  const work = report.salvaged.find(({ worker }) => worker === tree.workerId);
  if (left.stays !== undefined) {
    const told = report.left.some(({ what }) => what === left.stays);
    return told && same(contents(left.stays), left.files)
      ? 'stays'
      : `not told to stay: ${JSON.stringify(report.left)}`;
  }
  if (existsSync(tree.path)) return `still there: ${JSON.stringify(report.left)}`;
  if (work === undefined)
    return same(left.files, contents(repo.path), true) ? 'nothing to keep' : 'not salvaged';
  for (const commit of left.commits ?? [])
    if (!repo.git('rev-list', work.ref).includes(commit)) return `commit ${commit} is lost`;
  const to = join(session.world.sandbox.root, 'restored', tree.workerId);
  await session.restore({ work: work.ref.split('/').slice(4).join('/'), to });
  const found = contents(to);
  for (const [path, content] of left.staged ?? [])
    if (session.world.at(to).git('show', `:${path}`) !== content) return `staged ${path} is lost`;
  for (const [name, content] of Object.entries(left.ignored ?? {})) {
    const kept = join(work.kept_in ?? '', name);
    if (readFileSync(kept, 'utf8') !== content || (statSync(kept).mode & 0o777) !== 0o600)
      return `${kept} is not it`;
  }
  if (left.files !== null && !same(found, left.files))
    return `other files: ${JSON.stringify([found, left.files])}`;
  return 'recovered';
}

function same(a: Record<string, string> | null, b: Record<string, string> | null, tracked = false): boolean {
  if (tracked && a !== null && b !== null) return Object.keys(a).every((name) => a[name] === b[name]);
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
}

function sorted(record: Record<string, string> | null): unknown {
  return record === null ? null : Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
}

describe('[C-40] clean loses nothing', () => {
  it.each(LEFT)(
    '[C-40] a session that is $how: every kind of content is found again by the printed ref or path',
    async ({ end, states }) => {
      const cells: { cell: Cell; tree: LeftTree; left: Left }[] = [];
      let number = 0;
      for (const cell of CELLS) {
        const tree = await session.worker(
          `w${String((number += 1)).padStart(2, '0')}`,
          states[number % states.length],
        );
        cells.push({ cell, tree, left: await cell.prepare(tree, session) });
      }
      if (end !== null) session.end(end);
      const user = fingerprint(session.repo.path, session.repo.repository);
      const branches = Object.entries(allRefs(session.repo)).filter(
        ([name]) => !name.includes('/agentorchestr/'),
      );
      const stash = session.repo.git('stash', 'list');
      // What a dry run says is the same whatever the workers did last.
      const predicted = end === 'done' ? await session.clean({ dry_run: true }) : null;
      const report = await session.clean({ give_up: true });
      const after = fingerprint(session.repo.path, session.repo.repository);
      for (const prints of [user, after]) delete prints['git/packed-refs'];
      expect(after).toEqual(user);
      expect(session.repo.git('stash', 'list')).toBe(stash);
      expect((predicted ?? report).salvaged.map(({ ref }) => ref).sort()).toEqual(
        report.salvaged.map(({ ref }) => ref).sort(),
      );
      expect((predicted ?? report).removed.map(({ what, name }) => [what, name])).toEqual(
        report.removed.map(({ what, name }) => [what, name]),
      );
      session.repo.git('stash', 'clear');
      session.collectGarbage();
      expect(
        Object.entries(allRefs(session.repo)).filter(([name]) => !name.includes('/agentorchestr/')),
      ).toEqual(branches.filter(([name]) => name !== 'refs/stash'));
      const outcomes: Record<string, string> = {};
      for (const { cell, tree, left } of cells) outcomes[cell.content] = await recovered(tree, left, report);
      expect(outcomes).toEqual(
        Object.fromEntries(
          cells.map(({ cell, left }) => [
            cell.content,
            left.stays !== undefined ? 'stays' : cell.content === 'clean' ? 'nothing to keep' : 'recovered',
          ]),
        ),
      );
      const staying = cells.flatMap(({ left }) => left.stays ?? []);
      expect(
        registeredWorktrees(session.repo)
          .filter((path) => !path.includes('/restored/'))
          .sort(),
      ).toEqual([session.repo.path, ...staying].sort());
    },
  );
});

describe('[C-40] clean loses nothing in a submodule', () => {
  /** A session on a repository with a submodule; the user's clone has it filled, or not. */
  async function withSubmodule({ filled }: { filled: boolean }): Promise<LeftSession> {
    await session.close();
    const world = createGitWorld();
    const inner = world.repo('inner');
    const origin = world.repo('origin');
    origin.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.path, 'sub');
    origin.commit('with a submodule');
    const path = join(world.sandbox.root, 'user', 'clone');
    origin.git('clone', '--quiet', origin.path, path);
    const repo = world.at(path);
    if (filled) repo.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'update', '--init');
    session = await LeftSession.create({ world, repo });
    return session;
  }

  it.each([
    { whose: 'the user has too', filled: true },
    { whose: 'only the agent initialised', filled: false },
  ])(
    '[C-40] that $whose: its commits and uncommitted files are under the printed ref',
    async ({ filled }) => {
      const { world, repo } = await withSubmodule({ filled });
      const tree = await session.worker('w01');
      if (!filled) tree.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'update', '--init');
      const sub = world.at(join(tree.path, 'sub'));
      const commit = sub.commit('in the submodule', { 'c.txt': 'c\n' });
      sub.write('a.txt', 'changed in the submodule\n');
      session.end('done');
      const report = await session.clean();
      expect(report.left).toEqual([]);
      expect(existsSync(tree.path)).toBe(false);
      const work = report.salvaged.find(({ worker }) => worker === 'w01');
      const [kept] = work?.submodules ?? [];
      const holder = world.at(kept?.repository ?? '');
      holder.git('gc', '--quiet', '--prune=now');
      expect(holder.git('show', `${kept?.ref}:a.txt`)).toBe('changed in the submodule');
      expect(holder.git('rev-list', kept?.ref ?? '')).toContain(commit);
      expect(holder.path.startsWith(repo.repository)).toBe(true);
      expect((await session.salvaged())[0]?.submodules).toEqual(work?.submodules);
    },
  );
});
