import { toOrchestratorError } from '../../core/errors/error.js';
import { LEAD_ID } from '../../core/ids.js';
import { isLiveWorker } from '../../core/state/states.js';
import type { SessionRow, WorkerRow } from '../../core/state/rows.js';
import type { ProjectFacts, SessionBase } from '../../git/contract.js';
import { fact, lastRun, type FactSubject } from '../engine/deps.js';
import type { Ending } from '../engine/outcomes.js';
import { sessionRow, type LiveSession, type SessionContext } from '../session-context.js';
import type { SessionEnd } from './await-end.js';
import { endLeftBehind } from './end-left.js';
import { keepWork } from './keep-work.js';
import { reportSession } from './session-report.js';
import { isIntegrated } from './integrated.js';

/** No agent with bypassed permissions outlives its supervisor, but the lead may finish its last turn. */
const LAST_TURN_CAP_MS = 60_000;
const GRACE_MS = 2_000;

/** What the session started from. */
export interface SessionOrigin {
  readonly facts: ProjectFacts;
  readonly base: SessionBase;
}

/**
 * The session cannot go on for a fault of ours or of its surroundings; its row says why. Only a start that failed has
 * its integration worktree and branch removed again: they hold nothing yet. After that, everything stays.
 */
export async function abandonSession(
  session: SessionContext,
  error: unknown,
  { started }: { started: boolean },
): Promise<void> {
  const row = session.store.session(session.sessionId);
  if (row === null || row.state !== 'active') return;
  if (!started && row.integration_commit === null)
    await removeIntegration(session, row).catch((undone: unknown) =>
      logLeft(session, row.integration_worktree ?? '', undone),
    );
  const reason = error instanceof Error ? error.message : String(error);
  session.store.append(
    fact('session.ended', subject(session), { state: 'failed', summary: row.summary, reason }),
  );
}

async function removeIntegration(session: SessionContext, row: SessionRow): Promise<void> {
  const { repository, integration_worktree: path, integration_branch: branch } = row;
  if (path !== null) await session.git.removeWorktree({ repository, path, trash: session.places.trash });
  if (branch !== null) await session.git.deleteBranch({ repository, branch });
}

/**
 * Ends a session in order: the lead's last turn, every agent, verification jobs, clean and integrated worktrees, the
 * result into the checkout when asked, the record. What is not clean and integrated stays.
 */
export async function endSession(
  session: SessionContext,
  live: LiveSession,
  end: SessionEnd,
  origin: SessionOrigin,
): Promise<void> {
  const row = sessionRow(session);
  if (end.state === 'done' || (end.state === 'failed' && row.verdict === 'failed')) await lastTurn(session);
  await endAgents(session, live, end);
  await live.verifyJobs.close();
  if (end.state === 'paused') {
    session.store.append(fact('session.paused', subject(session), { reason: end.reason ?? 'paused' }));
  } else {
    const applied =
      end.state === 'done' && live.plan.apply ? await apply(session, live, row, origin) : undefined;
    // What may be resumed stays where it is.
    if (row.verdict !== null) await removeFinishedWorktrees(session, row);
    session.store.append(
      fact('session.ended', subject(session), {
        state: end.state,
        summary: row.summary,
        ...(end.reason === null ? {} : { reason: end.reason }),
        ...(applied === undefined ? {} : { applied }),
      }),
    );
  }
}

/** Shows whoever looks how it ended; resolves when nobody is waited for who may still read. */
export async function farewell(session: SessionContext, live: LiveSession): Promise<void> {
  const mayStay = !live.plan.kill_tmux;
  await live.backend.releaseViewers(closingLine(session), { mayStay }).catch(() => undefined);
}

/** Resolves when the lead's turn is over, or at the cap. */
function lastTurn(session: SessionContext): Promise<void> {
  const over = () => session.store.worker(session.sessionId, LEAD_ID)?.state !== 'working';
  return new Promise((resolve) => {
    if (over()) return resolve();
    const finish = () => {
      unsubscribe();
      cancel();
      resolve();
    };
    const cancel = session.clock.after(LAST_TURN_CAP_MS, finish);
    const unsubscribe = session.store.subscribe(session.store.head(), () => {
      if (over()) finish();
    });
  });
}

async function endAgents(session: SessionContext, live: LiveSession, end: SessionEnd): Promise<void> {
  live.ending.abort();
  live.engine.hold();
  await Promise.allSettled(live.launching.values());
  const workers = session.store.workers(session.sessionId);
  for (const worker of workers) live.engine.endOpenRuns(worker, endingOf(session, worker, end));
  const alive = workers.filter((worker) => isLiveWorker(worker.state));
  const results = await Promise.allSettled(
    alive.map((worker) => live.engine.end(worker, { graceMs: GRACE_MS, reason: 'the session ended' })),
  );
  results.forEach((result, index) => {
    const survivors = result.status === 'fulfilled' ? result.value.survivors : [];
    if (result.status === 'rejected' || survivors.length > 0)
      session.logger.error(
        { worker: alive[index]?.worker_id, survivors, result },
        'an agent could not be ended',
      );
  });
  await endLeftBehind(session);
}

function endingOf(session: SessionContext, worker: WorkerRow, end: SessionEnd): Ending {
  const reason = end.reason ?? 'the session ended';
  const { summary, verdict } = sessionRow(session);
  const interrupted = { type: 'run.interrupted', summary: reason, evidence: 'process' } as const;
  if (end.state === 'paused') return interrupted;
  // Without a verdict the session can be resumed, and its workers with it.
  if (worker.role === 'worker')
    return verdict === null ? interrupted : { ...interrupted, type: 'run.cancelled' };
  if (end.state === 'done') return { type: 'run.succeeded', summary, evidence: 'protocol' };
  return end.state === 'timeout'
    ? { type: 'run.timed_out', summary: reason, evidence: 'process' }
    : { type: 'run.failed', summary: summary === '' ? reason : summary, evidence: 'protocol' };
}

async function apply(
  session: SessionContext,
  live: LiveSession,
  row: SessionRow,
  origin: SessionOrigin,
): Promise<string> {
  if (row.integration_commit === null || row.integration_branch === null) return 'nothing to apply';
  try {
    const { how } = await session.git.applyToCheckout({
      facts: origin.facts,
      base: origin.base,
      resultCommit: row.integration_commit,
      resultBranch: row.integration_branch,
      includedChanges: live.plan.include_changes,
    });
    return how;
  } catch (thrown) {
    const error = toOrchestratorError(thrown);
    return `not applied: ${error.message} (${error.hint ?? ''})`;
  }
}

/** Only what holds nothing of its own: clean, integrated (or empty) and ended well. Branches stay. */
async function removeFinishedWorktrees(session: SessionContext, row: SessionRow): Promise<void> {
  for (const worker of session.store.workers(session.sessionId)) {
    if (worker.role !== 'worker' || lastRun(session.store, worker)?.state !== 'succeeded') continue;
    const status = await session.git.status(worker.worktree, worker.base_commit).catch(() => null);
    if (status === null || status.changedFiles.length > 0) continue;
    if (isIntegrated(worker, status))
      await removeKept(session, row, { name: worker.worker_id, path: worker.worktree, head: status.head });
  }
  const path = row.integration_worktree;
  const status = path === null ? null : await session.git.status(path, row.base_commit).catch(() => null);
  if (path !== null && status?.changedFiles.length === 0)
    await removeKept(session, row, { name: 'integration', path, head: status.head });
}

/**
 * Even a clean tree can hold what no branch does: a changed `.env`, commits that only its reflog knows. They are kept
 * first; where something cannot be kept, the worktree stays.
 */
async function removeKept(
  session: SessionContext,
  row: SessionRow,
  tree: { name: string; path: string; head: string },
): Promise<void> {
  const { repository } = row;
  const { name, path, head: base } = tree;
  try {
    const kept = await keepWork(session, row, { name, repository, worktree: path, base });
    if ((kept?.notKept.length ?? 0) > 0) return logLeft(session, path, kept?.notKept);
    await session.git.removeWorktree({ repository, path, trash: session.places.trash });
  } catch (error) {
    logLeft(session, path, error);
  }
}

function logLeft(session: SessionContext, path: string, error: unknown): void {
  session.logger.warn({ path, err: error }, 'worktree left in place');
}

/** What it came to, then where the result is. */
function closingLine(session: SessionContext): string {
  const { state, summary, reason, branch, commit } = reportSession(session.store, sessionRow(session));
  const words = summary === '' ? (reason ?? '') : summary;
  const result = state === 'done' && branch !== null && commit !== null ? `branch ${branch}` : '';
  return [state, result, words]
    .filter((part) => part !== '')
    .join(' · ')
    .replace(/\s+/g, ' ')
    .slice(0, 200);
}

function subject(session: SessionContext): FactSubject {
  return { session_id: session.sessionId, source: 'supervisor', evidence: 'process' };
}
