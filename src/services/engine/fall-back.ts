import type { EventName } from '../../core/events/index.js';
import type { RunRow, WorkerRow } from '../../core/state/rows.js';
import type { Transaction } from '../../store/contract.js';
import type { EngineDeps } from './deps.js';
import { acceptInstruction } from './instruct.js';
import { endRun, type Ending } from './outcomes.js';

const OUTPUT: readonly EventName[] = ['text.completed', 'reasoning.completed', 'tool.called'];

/**
 * Gives what a run was asked to the next of the workers that may stand in, as a run of its own: but only while its agent
 * has said and done nothing. After that the work is half done, and somebody has to look at it. false: nothing of that.
 */
export function fallBack(
  deps: Pick<EngineDeps, 'sessionId' | 'newId'>,
  tx: Transaction,
  worker: WorkerRow,
  failed: { run: RunRow; ending: Omit<Ending, 'type'>; hasSaid: boolean },
): boolean {
  const { run, ending, hasSaid } = failed;
  const [next, ...fallbacks] = run.fallbacks;
  const standIn = next === undefined ? null : tx.worker(deps.sessionId, next);
  const message = tx.message(run.message_id);
  if (standIn === null || message === null || run.cancel_requested_at !== null) return false;
  if (hasSaid || hasOutput(tx, worker, run)) return false;
  endRun(deps, tx, worker, run.run_id, { type: 'run.failed', ...ending });
  acceptInstruction(deps, tx, standIn, {
    ...{ kind: 'task', text: message.text, sender: message.sender, source: 'supervisor' },
    ...{ retries: run.retries, retryOf: run.run_id, fallbacks },
    ...(run.timeout_ms === null ? {} : { timeoutMs: run.timeout_ms }),
    ...(run.parent_run_id === null ? {} : { parentRunId: run.parent_run_id }),
  });
  return true;
}

/** Of any of its attempts. */
export function hasOutput(
  tx: Transaction,
  { session_id: sessionId, worker_id: workerId }: WorkerRow,
  run: RunRow,
): boolean {
  return tx.events({ after: 0, sessionId, workerId, runId: run.run_id, types: OUTPUT, limit: 1 }).length > 0;
}
