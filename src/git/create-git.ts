import type { Clock } from '../core/clock.js';
import { silentLogger, type Logger } from '../platform/logger.js';
import { agentGitEnvironment } from './agent-git-environment.js';
import { applyToCheckout } from './apply-to-checkout.js';
import type { Git } from './contract.js';
import { createWorktree } from './create-worktree.js';
import { diffWorktree } from './diff-worktree.js';
import type { Environment } from './git-environment.js';
import type { GitRoom } from './git-room.js';
import { includeIgnored } from './include-ignored.js';
import { inspectProject } from './inspect-project.js';
import { integrate } from './integrate.js';
import { recoverWorktree } from './move-worktree.js';
import { overlaps } from './overlaps.js';
import { predictConflicts } from './predict-conflicts.js';
import { prepareBase } from './prepare-base.js';
import { isHeld, keepCommit, sessionBranches } from './held-commits.js';
import { listSalvaged } from './list-salvaged.js';
import { locateRepository, locateWorktree } from './locate-worktree.js';
import { resolveCommit } from './refs.js';
import { deleteBranch, emptyTrash, removeWorktree } from './remove-worktree.js';
import { createRepositoryLocks, createSemaphore, createTurns } from './repository-lock.js';
import { resetWorktree } from './reset-worktree.js';
import { restoreSalvaged } from './restore-salvaged.js';
import { createGitRunner } from './run-git.js';
import { salvage } from './salvage.js';
import { commitAll, commitsBeyond, worktreeStatus } from './status.js';

export interface GitOptions {
  /** The user's environment: their PATH, home, credentials helpers and identity. */
  readonly env: Environment;
  readonly clock: Clock;
  readonly logger?: Logger;
  readonly binary?: string;
  /** How long a repository's lock is waited for; longer than the 30 s after which a dead holder's lock is taken. */
  readonly lockWaitMs?: number;
}

const LOCK_WAIT_MS = 90_000;
const FILLED_AT_A_TIME = 2;

export function createGit(options: GitOptions): Git {
  const pending = new Set<Promise<unknown>>();
  const room: GitRoom = {
    ...createGitRunner({ env: options.env, binary: options.binary ?? 'git' }),
    clock: options.clock,
    logger: options.logger ?? silentLogger,
    env: options.env,
    locked: createRepositoryLocks({ waitMs: options.lockWaitMs ?? LOCK_WAIT_MS }),
    filling: createSemaphore(FILLED_AT_A_TIME),
    inTurn: createTurns(),
    background(work) {
      const kept = work.finally(() => pending.delete(kept));
      pending.add(kept);
    },
  };
  return {
    inspectProject: (project) => inspectProject(room, project),
    prepareBase: (base) => prepareBase(room, base),
    createWorktree: (worktree) => createWorktree(room, worktree),
    removeWorktree: (worktree) => removeWorktree(room, worktree),
    deleteBranch: (branch) => deleteBranch(room, branch),
    resolve: (repository, ref) => resolveCommit(room, { repository }, ref),
    commitsBeyond: (count) => commitsBeyond(room, count),
    status: (worktree, base) => worktreeStatus(room, worktree, base),
    commitAll: (worktree, message) => commitAll(room, worktree, message),
    resetWorktree: (worktree, commit) => resetWorktree(room, worktree, commit),
    integrate: (merge) => integrate(room, merge),
    recoverWorktree: (worktree) => room.inTurn(worktree, () => recoverWorktree(room, worktree)),
    predictConflicts: (repository, ours, theirs) => predictConflicts(room, { repository, ours, theirs }),
    diff: (diff) => diffWorktree(room, diff),
    overlaps: (comparison) => overlaps(room, comparison),
    salvage: (work) => salvage(room, work),
    locateWorktree,
    locateRepository,
    sessionBranches: (repository, sessionId) => sessionBranches(room, repository, sessionId),
    isHeld: (commit) => isHeld(room, commit),
    keepCommit: (commit) => keepCommit(room, commit),
    listSalvaged: (session) => listSalvaged(room, session),
    restoreSalvaged: (work) => restoreSalvaged(room, work),
    emptyTrash: (trash) => emptyTrash(room, trash),
    includeIgnored: (files) => includeIgnored(room, files),
    applyToCheckout: (result) => applyToCheckout(room, result),
    agentGitEnvironment: (agent) => agentGitEnvironment(room, agent),
    async idle() {
      while (pending.size > 0) await Promise.allSettled(pending);
    },
  };
}
