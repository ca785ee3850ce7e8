import { OrchestratorError } from '../../core/errors/error.js';
import type { SessionRow } from '../../core/state/rows.js';
import { fact } from '../engine/deps.js';
import { type SessionContext } from '../session-context.js';
import { cleanBranches } from './clean-branches.js';
import { cleanFolders, cleanRepository } from './clean-folders.js';
import type { Cleaning, CleanReport } from './clean-report.js';
import { cleanWorktrees, leftTrees } from './clean-worktrees.js';
import { endLeftWriters } from './end-left.js';
import { leftState, requireLeft } from './left-state.js';
import { isResumable } from './shown-state.js';

/**
 * Removes what a session that is over left: panes, worktrees, branches, folders. What holds work is kept under a salvage
 * ref first; what cannot be kept stays and is named. Every step may be repeated: killed anywhere, the next call goes on.
 * The order is the safety: nobody writes any more, then work is kept, then its place goes, at last what says where it was.
 * Throws SESSION_NOT_OVER.
 */
export async function cleanSession(
  session: SessionContext,
  { dryRun, giveUp }: { dryRun: boolean; giveUp: boolean },
): Promise<CleanReport> {
  const row = requireLeft(session);
  const state = leftState(row);
  const resumeLost = isResumable(session.store, row, state) ? whatResumes(session, row) : null;
  if (resumeLost !== null && !giveUp && !dryRun) throw stillResumable(row, state, resumeLost);
  const cleaning: Cleaning = { dryRun, removed: [], salvaged: [], left: [], stayingBranches: new Set() };
  // Agents and commands of a supervisor that died may still be at it.
  if (!dryRun) await endLeftWriters(session, 'clean');
  await endPanes(session, cleaning);
  const trees = await leftTrees(session, row);
  const repository = await session.git.locateRepository({
    recorded: row.repository,
    worktrees: trees.map(({ path }) => path),
  });
  await cleanWorktrees(session, row, { repository, trees, cleaning });
  if (repository !== null) await cleanBranches(session, row, { repository, trees, cleaning });
  await cleanRepository(session, row, { repository, cleaning });
  await cleanFolders(session, row, cleaning);
  if (!dryRun) await session.git.emptyTrash(session.places.trash);
  const report = {
    session_id: row.session_id,
    state,
    dry_run: dryRun,
    resume_lost: resumeLost,
    removed: cleaning.removed,
    salvaged: cleaning.salvaged,
    left: cleaning.left,
    bytes: cleaning.removed.reduce((sum, { bytes }) => sum + bytes, 0),
  };
  if (!dryRun && (row.cleaned_at === null || report.removed.length > 0)) record(session, report);
  return report;
}

function stillResumable(row: SessionRow, state: string, lost: string): OrchestratorError {
  const id = row.session_id;
  return new OrchestratorError('SESSION_NOT_OVER', {
    session: id,
    state,
    problem: `it can still be resumed, and could not be afterwards (${lost})`,
    hint: `go on with it: agentorchestr --resume ${id}; or give that up: agentorchestr clean ${id} --give-up`,
  });
}

function whatResumes(session: SessionContext, row: SessionRow): string {
  const workers = session.store.workers(row.session_id);
  const conversations = workers
    .filter(({ thread_id }) => thread_id !== null)
    .map((worker) => worker.worker_id);
  return conversations.length === 0
    ? 'the folders of its workers; their work is kept'
    : `the conversations of ${conversations.join(', ')} and their folders; their work is kept`;
}

async function endPanes(session: SessionContext, { dryRun, removed, left }: Cleaning): Promise<void> {
  const panes = session.leftPanes;
  if (panes === undefined || !(await panes.areThere())) return;
  if (dryRun || (await panes.end()))
    removed.push({ what: 'panes', name: 'tmux server', bytes: 0, note: null });
  else left.push({ what: 'tmux server', reason: 'it does not answer', bytes: 0 });
}

function record(session: SessionContext, report: CleanReport): void {
  session.store.append(
    fact(
      'session.cleaned',
      { session_id: session.sessionId, source: 'cli', evidence: 'process' },
      {
        removed: report.removed.map(({ name }) => name),
        left: report.left.map(({ what, reason }) => ({ what, reason })),
        bytes: report.bytes,
      },
    ),
  );
}
