import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { createGit } from '../../src/git/create-git.js';
import type { Git } from '../../src/git/contract.js';
import { systemClock } from '../../src/platform/clock.js';
import { createSandbox, type Sandbox } from './sandbox.js';

export interface TestRepo {
  readonly path: string;
  /** The common git directory. */
  readonly repository: string;
  /** Runs git as the user would, in `path`; throws when it fails; without trailing newline. */
  git(...args: string[]): string;
  write(name: string, content: string | Buffer): void;
  read(name: string): string;
  /** Writes the files, commits everything, returns the commit. */
  commit(message: string, files?: Readonly<Record<string, string>>): string;
}

export interface GitWorld {
  readonly sandbox: Sandbox;
  readonly git: Git;
  /** Folder for worktrees, trash and other places of ours. */
  place(...names: string[]): string;
  /** A repository with an identity and, unless told, one commit of `a.txt`, `src/b.txt`. */
  repo(name?: string, options?: { empty?: boolean; bare?: boolean }): TestRepo;
  at(path: string): TestRepo;
  close(): Promise<void>;
}

/** Real git in a home of its own; the user there has an identity. Call `close` in afterEach: it fails on leaks. */
export function createGitWorld(
  options: { identity?: boolean; env?: Record<string, string>; lockWaitMs?: number; binary?: string } = {},
): GitWorld {
  const sandbox = createSandbox(options.env);
  if (options.identity !== false)
    writeFileSync(
      join(sandbox.home, '.gitconfig'),
      '[user]\n\tname = Ursula User\n\temail = ursula@example.org\n[init]\n\tdefaultBranch = main\n',
    );
  const git = createGit({
    env: sandbox.env,
    clock: systemClock,
    ...(options.lockWaitMs === undefined ? {} : { lockWaitMs: options.lockWaitMs }),
    ...(options.binary === undefined ? {} : { binary: options.binary }),
  });
  const at = (path: string, repository = join(path, '.git')) => testRepo(sandbox, path, repository);
  return {
    sandbox,
    git,
    at,
    place: (...names) => join(sandbox.root, 'ours', ...names),
    repo(name = 'project', { empty = false, bare = false } = {}) {
      const path = join(sandbox.root, 'user', name);
      mkdirSync(path, { recursive: true });
      const repo = bare ? at(path, path) : at(path);
      repo.git('init', '--quiet', '--initial-branch=main', ...(bare ? ['--bare'] : []));
      if (!empty && !bare) repo.commit('first', { 'a.txt': 'one\ntwo\nthree\n', 'src/b.txt': 'b\n' });
      return repo;
    },
    async close() {
      await git.idle();
      await sandbox.close();
    },
  };
}

function testRepo(sandbox: Sandbox, path: string, repository: string): TestRepo {
  const git = (...args: string[]) =>
    execFileSync('git', args, {
      cwd: path,
      env: sandbox.env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 100_000_000,
    }).replace(/\n$/, '');
  const write = (name: string, content: string | Buffer) => {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), content);
  };
  return {
    path,
    repository,
    git,
    write,
    read: (name) => readFileSync(join(path, name), 'utf8'),
    commit(message, files = {}) {
      for (const [name, content] of Object.entries(files)) write(name, content);
      git('add', '--all');
      git('commit', '--quiet', '--allow-empty', '-m', message);
      return git('rev-parse', 'HEAD');
    },
  };
}

/** What is ours inside a git directory; everything else there is the user's. */
const OURS =
  /^(objects|worktrees|modules)(\/|$)|^(logs\/)?refs\/(heads\/)?agentorchestr(\/|$)|^agentorchestr\.lock/;

/**
 * The user's world, file by file: every file of the checkout and of the git directory (index, HEAD, config, hooks,
 * info/exclude, refs, stash, reflogs …) as mode and hash, plus the checkout's modification times. Reads files only: a
 * git command here could itself refresh the index.
 */
export function fingerprint(checkout: string, repository: string): Record<string, string> {
  const prints: Record<string, string> = {};
  if (checkout !== repository)
    for (const path of files(checkout, (name) => name !== '.git'))
      prints[`checkout/${relative(checkout, path)}`] = print(path, true);
  for (const path of files(repository, (name) => !OURS.test(name)))
    prints[`git/${relative(repository, path)}`] = print(path, false);
  return prints;
}

function files(root: string, wanted: (name: string) => boolean, below = root): string[] {
  return readdirSync(below, { withFileTypes: true }).flatMap((entry) => {
    const path = join(below, entry.name);
    if (!wanted(relative(root, path))) return [];
    return entry.isDirectory() ? files(root, wanted, path) : [path];
  });
}

function print(path: string, withTime: boolean): string {
  const info = lstatSync(path);
  const content = info.isSymbolicLink() ? readlinkSync(path) : readFileSync(path);
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 16);
  return `${info.mode.toString(8)} ${hash}${withTime ? ` ${info.mtimeMs}` : ''}`;
}

/** Names of all refs with their commits, ours included. */
export function allRefs(repo: TestRepo): Record<string, string> {
  const lines = repo.git('for-each-ref', '--format=%(refname) %(objectname)').split('\n');
  return Object.fromEntries(
    lines.filter((line) => line !== '').map((line) => line.split(' ') as [string, string]),
  );
}

/** Paths of all registered worktrees, the main one included. */
export function registeredWorktrees(repo: TestRepo): string[] {
  return repo
    .git('worktree', 'list', '--porcelain')
    .split('\n')
    .filter((line) => line.startsWith('worktree '))
    .map((line) => line.slice('worktree '.length));
}

export function removeFolder(path: string): void {
  rmSync(path, { recursive: true, force: true });
}
