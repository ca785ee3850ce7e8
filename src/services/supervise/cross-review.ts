import { OrchestratorError } from '../../core/errors/error.js';
import { isLiveWorker } from '../../core/state/states.js';
import type { WorkerRow } from '../../core/state/rows.js';
import { findWorker, requireOpen, type SessionContext } from '../session-context.js';
import { sendToWorker } from './send-to-worker.js';
import { spawnWorker } from './spawn-worker.js';

/**
 * Asks each of two workers to review the other's diff; returns at once with who reviews what. A worker that is gone is
 * replaced by a fresh reviewer. Throws UNKNOWN_WORKER, INVALID_INPUT for a pair of one.
 */
export async function crossReview(
  session: SessionContext,
  request: { workerA: string; workerB: string; focus: string; sender: string },
): Promise<{ reviewer: string; reviews: string; fresh: boolean }[]> {
  requireOpen(session);
  if (request.workerA === request.workerB)
    throw new OrchestratorError('INVALID_INPUT', {
      field: 'worker_b',
      problem: 'a worker cannot review itself',
    });
  const a = findWorker(session, request.workerA);
  const b = findWorker(session, request.workerB);
  return [await ask(session, a, b, request), await ask(session, b, a, request)];
}

async function ask(
  session: SessionContext,
  reviewer: WorkerRow,
  reviewed: WorkerRow,
  request: { focus: string; sender: string },
): Promise<{ reviewer: string; reviews: string; fresh: boolean }> {
  const text = reviewText(reviewed, request.focus);
  if (isLiveWorker(reviewer.state)) {
    await sendToWorker(session, { workerId: reviewer.worker_id, text, sender: request.sender });
    return { reviewer: reviewer.worker_id, reviews: reviewed.worker_id, fresh: false };
  }
  const { worker } = await spawnWorker(session, {
    task: text,
    perspective: 'reviewer',
    file_scope: reviewed.file_scope,
    pass_criteria: '',
    extra_context: '',
    agent_hint: reviewer.agent,
    base: reviewed.worker_id,
    sender: request.sender,
  });
  return { reviewer: worker.worker_id, reviews: reviewed.worker_id, fresh: true };
}

function reviewText(reviewed: WorkerRow, focus: string): string {
  return [
    `Review the work of ${reviewed.worker_id} (${reviewed.perspective}): branch ${reviewed.branch}, worktree ${reviewed.worktree}.`,
    `See it with: git diff ${reviewed.base_commit}...${reviewed.branch}`,
    `Focus: ${focus}. At most 8 numbered concerns, each with file:line and a one-line suggestion. Change nothing in that worktree.`,
    'Then report done with the concerns as the summary.',
  ].join('\n');
}
