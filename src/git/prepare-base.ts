import { OrchestratorError } from '../core/errors/error.js';
import type { BaseOptions, ProjectFacts, SessionBase } from './contract.js';
import { baseStatement } from './base-statement.js';
import type { GitRoom } from './git-room.js';
import { batchSsh } from './git-environment.js';
import { identityEnvironment, setting } from './identity.js';
import { importFolder } from './import-folder.js';
import { inspectProject } from './inspect-project.js';
import { commitTree, snapshotTree, withScratch } from './scratch.js';

const FETCH_TIMEOUT_MS = 60_000;

/** See Git.prepareBase. */
export async function prepareBase(room: GitRoom, options: BaseOptions): Promise<SessionBase> {
  const { repository } = options.facts;
  if (repository === null) return importFolder(room, options);
  const fetchProblem = options.fetch ? await fetchUpstream(room, options.facts, repository) : null;
  const facts = options.fetch ? await inspectProject(room, options.facts.project) : options.facts;
  if (facts.head === null) throw new OrchestratorError('NO_COMMITS', { path: facts.project });
  const included = options.includeChanges && facts.checkout !== null && facts.uncommittedFiles.length > 0;
  const snapshot = included ? await snapshotCheckout(room, { ...options, facts }) : null;
  return {
    repository,
    commit: snapshot?.commit ?? facts.head,
    subdirectory: facts.subdirectory,
    statement: baseStatement(facts, {
      now: room.clock.now(),
      included,
      embedded: snapshot?.embedded ?? [],
      fetchProblem,
    }),
    imported: false,
  };
}

/** The ref that keeps a session's snapshot from being collected. */
function baseRef(sessionId: string): string {
  return `refs/agentorchestr/base/${sessionId}`;
}

async function snapshotCheckout(
  room: GitRoom,
  options: BaseOptions,
): Promise<{ commit: string; embedded: readonly string[] }> {
  const { facts, sessionId } = options;
  const worktree = facts.checkout ?? facts.project;
  const at = { worktree };
  return withScratch(room, facts.repository ?? '', async (scratch) => {
    const { tree, embedded } = await snapshotTree(room, worktree, { scratch, objects: null });
    const message = `Uncommitted changes of ${facts.branch ?? 'the checkout'} when session ${sessionId} began\n`;
    const env = await identityEnvironment(room, at);
    const commit = await commitTree(room, at, { tree, parents: [facts.head ?? ''], message, env });
    await room.run(['update-ref', baseRef(sessionId), commit], { at });
    return { commit, embedded };
  });
}

/** What went wrong, in words; null when it worked. A session does not fail because a remote is away: the statement says so. */
async function fetchUpstream(room: GitRoom, facts: ProjectFacts, repository: string): Promise<string | null> {
  const at = { repository };
  const remote = await remoteToFetch(room, facts, repository);
  if (remote === null) return 'there is no remote';
  const ssh = await setting(room, at, 'core.sshCommand');
  const env =
    ssh === null || room.env['GIT_SSH_COMMAND'] !== undefined ? {} : { GIT_SSH_COMMAND: batchSsh(ssh) };
  const args = [
    'fetch',
    '--quiet',
    '--no-tags',
    '--no-recurse-submodules',
    '--no-auto-maintenance',
    '--',
    remote,
  ];
  try {
    await room.locked(repository, () => room.run(args, { at, env, timeoutMs: FETCH_TIMEOUT_MS }));
    return null;
  } catch (error) {
    if (!(error instanceof OrchestratorError) || error.code !== 'GIT_FAILED') throw error;
    return String(error.params['problem']);
  }
}

async function remoteToFetch(room: GitRoom, facts: ProjectFacts, repository: string): Promise<string | null> {
  const at = { repository };
  const remotes = (await room.run(['remote'], { at })).text
    .split('\n')
    .filter((name) => name !== '' && !name.startsWith('-'));
  const configured = facts.branch === null ? null : await setting(room, at, `branch.${facts.branch}.remote`);
  if (configured !== null && remotes.includes(configured)) return configured;
  return remotes.includes('origin') ? 'origin' : (remotes[0] ?? null);
}
