import { LEAD_ID } from '../../core/ids.js';
import type { NewEvent } from '../../core/events/index.js';
import type { MessageRow, RunRow, WorkerRow } from '../../core/state/rows.js';
import { takesInstructions } from '../../core/state/states.js';
import { goOnText } from '../context/engine-texts.js';
import { fact } from '../engine/deps.js';
import { acceptInstruction, isPending } from '../engine/instruct.js';
import type { LiveSession, SessionContext } from '../session-context.js';
import { undeliveredIn } from './undelivered.js';

/**
 * Runs of workers that were broken off together with the session go on, each as another run of its worker in its own
 * conversation. What the lead was told of is the lead's to decide. Safe to be called again: a run goes on once.
 */
export function goOnWithRuns(session: SessionContext, live: LiveSession): void {
  const { store, sessionId } = session;
  // One that never came to life is for the lead to spawn again.
  const workers = store
    .workers(sessionId)
    .filter((worker) => worker.role === 'worker' && takesInstructions(worker));
  for (const worker of workers)
    for (const run of store.runs(sessionId, worker.worker_id))
      store.transaction((tx) => {
        const notice = untold(session, worker, run);
        const isRetried = tx.runs(sessionId, worker.worker_id).some(({ retry_of: of }) => of === run.run_id);
        // Without a lead there is nobody else to decide.
        const isTold = notice === null && live.plan.mode !== 'manual';
        if (run.state !== 'interrupted' || run.cancel_requested_at !== null || isRetried || isTold) return;
        acceptInstruction(session, tx, worker, {
          kind: 'task',
          text: textOf(session, worker, run),
          sender: 'agentorchestr',
          source: 'recovery',
          retryOf: run.run_id,
          ...(run.timeout_ms === null ? {} : { timeoutMs: run.timeout_ms }),
          ...(run.retries === 0 ? {} : { retries: run.retries }),
        });
        if (notice !== null && isPending(notice)) tx.append(outdated(notice));
      });
  for (const { worker_id: workerId } of workers) live.engine.pump(workerId);
}

/** The word to the lead that this run was interrupted, if it has not reached it. */
function untold({ store, sessionId }: SessionContext, worker: WorkerRow, run: RunRow): MessageRow | null {
  const endedAt = run.ended_at ?? '';
  return (
    store
      .messages(sessionId, LEAD_ID)
      .find(
        (message) =>
          message.kind === 'notice' &&
          message.about === worker.worker_id &&
          message.accepted_at >= endedAt &&
          message.text.includes('was interrupted') &&
          message.typed_at === null &&
          message.submitted_at === null,
      ) ?? null
  );
}

function outdated({ session_id, worker_id, message_id }: MessageRow): NewEvent {
  const reason = 'its run goes on';
  const subject = { session_id, worker_id, source: 'recovery', evidence: 'process' } as const;
  return fact('message.refused', subject, { message_id, reason });
}

/** What it has not heard is said to it as it was. */
function textOf(session: SessionContext, worker: WorkerRow, run: RunRow): string {
  const unheard = undeliveredIn(session, worker.worker_id, run.run_id);
  const isHeard = !unheard.some(({ message_id: id }) => id === run.message_id);
  return [...(isHeard ? [goOnText(run.summary)] : []), ...unheard.map(({ text }) => text)].join('\n\n');
}
