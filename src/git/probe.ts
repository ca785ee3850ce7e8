import { dirname } from 'node:path';
import { OrchestratorError } from '../core/errors/error.js';
import { isThere } from '../platform/disk.js';
import { runProcess, type ProcessResult } from '../platform/process.js';
import type { GitFeatures, GitProbe } from './contract.js';
import { gitEnvironment, type Environment } from './git-environment.js';
import { entryNamedBy, entryOf, worktreeEntries } from './worktree-entries.js';

const LIMIT_MS = 4_000;

export function createGitProbe(options: { env: Environment; binary?: string }): GitProbe {
  const env = gitEnvironment(options.env);
  const ask = (args: readonly string[], binary = options.binary ?? 'git') =>
    runProcess(binary, args, { env, timeoutMs: LIMIT_MS });
  return {
    features: () => features(ask),
    registered,
    worktreeOf,
  };
}

type Ask = (args: readonly string[], binary?: string) => Promise<ProcessResult>;

/** Subcommands print what they know with `-h`, outside of any repository too. */
async function features(ask: Ask): Promise<GitFeatures> {
  const [version, merge, worktree, lfs, identity] = await Promise.all([
    ask(['--version']),
    ask(['merge-tree', '-h']),
    ask(['worktree', '-h']),
    ask(['version'], 'git-lfs'),
    ask(['var', 'GIT_COMMITTER_IDENT']),
  ]);
  if (version.notStarted)
    throw new OrchestratorError('GIT_MISSING', {}, { cause: new Error(version.stderr) });
  if (version.timedOut)
    throw new OrchestratorError('TIMED_OUT', {
      what: 'git --version',
      limit_ms: LIMIT_MS,
      hint: 'try it by hand',
    });
  const known = ({ stdout, stderr }: ProcessResult) => `${stdout}\n${stderr}`;
  return {
    version: /\d+\.\d+[\w.]*/.exec(version.stdout)?.[0] ?? null,
    worktrees: /worktree remove/.test(known(worktree)),
    mergeInMemory: /--write-tree/.test(known(merge)),
    lfsInstalled: lfs.exitCode === 0,
    identity: identity.exitCode === 0,
  };
}

async function registered(repository: string): Promise<{ path: string; isThere: boolean }[]> {
  const found: { path: string; isThere: boolean }[] = [];
  for (const { path } of await worktreeEntries(repository))
    if (path !== null) found.push({ path, isThere: await isThere(path) });
  return found;
}

async function worktreeOf(folder: string): Promise<{ repository: string; registered: boolean } | null> {
  const entry = await entryNamedBy(folder);
  if (entry === null || !/\/worktrees\/[^/]+$/.test(entry)) return null;
  const repository = dirname(dirname(entry));
  return { repository, registered: (await entryOf(repository, folder)) !== null };
}
