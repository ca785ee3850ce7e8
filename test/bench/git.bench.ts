import { execFile } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterEach, beforeEach, it } from 'vitest';
import type { GitWorld, TestRepo } from '../support/repo.js';
import { gitWorldInMemory, repositoryOf } from './support/memory.js';
import { compare, compareAll, figure, roundsOf } from './support/rows.js';

const LARGE = 10_000;
const SMALL = 100;

const execute = promisify(execFile);

let world: GitWorld;
let made = 0;
beforeEach(() => {
  world = gitWorldInMemory();
});
afterEach(() => world.close());

interface Tree {
  readonly path: string;
  readonly branch: string;
}

const newTrees = (count: number): Tree[] =>
  Array.from({ length: count }, () => {
    made += 1;
    return { path: world.place('worktrees', `w${made}`), branch: `agentorchestr/bench/w${made}` };
  });

/** How many of these fail, done so many at a time. */
async function atATime<T>(
  size: number,
  all: readonly T[],
  work: (one: T) => Promise<unknown>,
): Promise<number> {
  const left = [...all];
  let failed = 0;
  const place = async () => {
    for (let one = left.shift(); one !== undefined; one = left.shift())
      await work(one).catch(() => (failed += 1));
  };
  await Promise.all(Array.from({ length: size }, place));
  return failed;
}

const bareGit = (repo: TestRepo, ...args: string[]) =>
  execute('git', args, { cwd: repo.path, env: world.sandbox.env });
const bareAdd = (repo: TestRepo, { path, branch }: Tree) =>
  bareGit(repo, 'worktree', 'add', '--quiet', '-b', branch, path, 'HEAD');
const bareRemove = (repo: TestRepo, { path }: Tree) => bareGit(repo, 'worktree', 'remove', '--force', path);
const add = ({ repository }: TestRepo, tree: Tree) =>
  world.git.createWorktree({ repository, ...tree, commit: 'HEAD' });
const remove = ({ repository }: TestRepo, { path }: Tree) =>
  world.git.removeWorktree({ repository, path, trash: world.place('trash') });

async function took(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** So that no round finds what an earlier one made. */
function forget(repo: TestRepo): void {
  rmSync(world.place('worktrees'), { recursive: true, force: true });
  repo.git('worktree', 'prune');
}

/** The wall time of so many worktrees; whatever fails here spoils the figure. */
async function timeOf(repo: TestRepo, count: number, make: (trees: Tree[]) => Promise<number>) {
  const ms = await took(async () => {
    const failed = await make(newTrees(count));
    if (failed > 0) throw new Error(`${failed} of ${count} worktrees were not made`);
  });
  forget(repo);
  return ms;
}

it('[G15] eight large worktrees, cold', async () => {
  const repo = repositoryOf(world, LARGE);
  const byGit = (count: number) =>
    timeOf(repo, 8, (trees) => atATime(count, trees, (tree) => bareAdd(repo, tree)));
  await compareAll({
    ...{ goal: 'G15', unit: 'ms', what: `8 worktrees of ${LARGE} files, cold` },
    ours: () => timeOf(repo, 8, (trees) => atATime(8, trees, (tree) => add(repo, tree))),
    rivals: [
      { what: 'git, 2 at a time', run: () => byGit(2), target: { atMost: 1.1 } },
      { what: 'git, one by one', run: () => byGit(1), target: { atLeast: 1.6 } },
    ],
  });
});

it('[G15] more worktrees, cold', async () => {
  const repo = repositoryOf(world, LARGE / 10);
  for (const count of [32, 64])
    await compare({
      ...{ goal: 'G15', unit: 'ms', rounds: 2 },
      what: `${count} worktrees of ${LARGE / 10} files, cold; rival: git, 2 at a time`,
      ours: () => timeOf(repo, count, (trees) => atATime(count, trees, (tree) => add(repo, tree))),
      rival: () => timeOf(repo, count, (trees) => atATime(2, trees, (tree) => bareAdd(repo, tree))),
    });
});

it('[G16] worktrees made and removed by many at a time', async () => {
  const repo = repositoryOf(world, SMALL);
  for (const [size, count, rounds] of [[8, 32, 5] as const, [32, 64, 15] as const, [64, 64, 5] as const]) {
    const failures = { ours: 0, rival: 0 };
    const what = `worktrees of ${SMALL} files made and removed, ${size} at a time`;
    await compare({
      ...{ goal: 'G16', unit: 'ms', what: `${count} ${what}; rival: git without a lock`, rounds },
      ...(size === 32 ? { target: { atMost: 0.75 } } : {}),
      async ours() {
        return took(async () => {
          failures.ours += await atATime(size, newTrees(count), async (tree) => {
            await add(repo, tree);
            await remove(repo, tree);
          });
          await world.git.idle();
        });
      },
      async rival() {
        const ms = await took(async () => {
          failures.rival += await atATime(size, newTrees(count), async (tree) => {
            await bareAdd(repo, tree);
            await bareRemove(repo, tree);
          });
        });
        forget(repo);
        return ms;
      },
    });
    const all = count * (roundsOf(rounds) + 1);
    figure({
      ...{ goal: 'G16', unit: 'failed', what: `of ${all} ${what}; rival: git without a lock` },
      ...{ ours: failures.ours, rival: failures.rival, atMost: 0 },
    });
  }
});

it('[G17] a large worktree removed', async () => {
  const repo = repositoryOf(world, LARGE);
  const freed: number[] = [];
  await compare({
    ...{ goal: 'G17', unit: 'ms', what: `a worktree of ${LARGE} files removed; rival: git worktree remove` },
    target: { atLeast: 25 },
    async ours() {
      const [tree] = newTrees(1) as [Tree];
      await bareAdd(repo, tree);
      const began = performance.now();
      const ms = await took(() => remove(repo, tree));
      await world.git.idle();
      freed.push(performance.now() - began);
      if (existsSync(tree.path) || readdirSync(world.place('trash')).length > 0)
        throw new Error('something of it is left');
      return ms;
    },
    async rival() {
      const [tree] = newTrees(1) as [Tree];
      await bareAdd(repo, tree);
      return took(() => bareGit(repo, 'worktree', 'remove', tree.path));
    },
  });
  const what = `the same: until its disk space is free, the longest of ${freed.length}`;
  figure({ goal: 'G17', unit: 'ms', what, ours: Math.max(...freed), atMost: 5_000 });
});
