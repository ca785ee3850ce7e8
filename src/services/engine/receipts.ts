import type { Delivery, DeliveryObserver } from '../../backends/contract.js';
import { isTerminalRun, type Evidence, type MessageState } from '../../core/state/states.js';
import type { NewEvent } from '../../core/events/index.js';
import { fact, type EngineDeps, type FactSubject } from './deps.js';
import { isPending } from './instruct.js';
import type { NextDelivery } from './next-delivery.js';
import type { WorkerRecord } from './worker-record.js';

export interface Proof {
  readonly evidence: Evidence;
  readonly how: string;
}

const AFTER_SUBMIT: readonly MessageState[] = ['submitted', 'started', 'answered'];

/**
 * The agent took the message: its receipt, the start of its run and of the turn, in one transaction. Safe to call again
 * with a second proof: only the first counts (false then).
 */
export function recordSubmitted(
  deps: EngineDeps,
  workerId: string,
  next: NextDelivery,
  proof: Proof,
): boolean {
  return deps.store.transaction((tx) => {
    const fresh = next.messageIds.filter((id) => {
      const message = tx.message(id);
      return message !== null && !AFTER_SUBMIT.includes(message.state);
    });
    if (fresh.length === 0) return false;
    const subject = subjectOf(deps, workerId, next.runId, proof.evidence);
    const run = next.runId === undefined ? null : tx.run(next.runId);
    const worker = tx.worker(deps.sessionId, workerId);
    const events: NewEvent[] = fresh.map((message_id) =>
      fact('message.submitted', subject, { message_id, how: proof.how }),
    );
    if (run?.started_at === null && !isTerminalRun(run.state))
      events.push(
        fact('run.started', subject, {
          attempt: run.attempts + 1,
          attempt_id: worker?.attempt_id ?? '',
          new_process: false,
        }),
      );
    events.push(...fresh.map((message_id) => fact('message.started', subject, { message_id })));
    if (worker?.state !== 'working') events.push(fact('worker.working', subject, {}));
    tx.append(...events);
    return true;
  });
}

/** Any other end of a delivery; false when the messages were settled before: by a proof, which then stands, or refused. */
export function recordDelivery(
  deps: EngineDeps,
  workerId: string,
  next: NextDelivery,
  delivery: Exclude<Delivery, { outcome: 'submitted' }>,
): boolean {
  return deps.store.transaction((tx) => {
    const open = next.messageIds.filter((id) => {
      const message = tx.message(id);
      return message !== null && message.state !== 'refused' && !AFTER_SUBMIT.includes(message.state);
    });
    const subject = subjectOf(deps, workerId, next.runId, 'screen');
    tx.append(
      ...open.map((message_id) =>
        delivery.outcome === 'unconfirmed'
          ? fact('message.unconfirmed', subject, { message_id, screen: delivery.screen })
          : fact('message.refused', subject, { message_id, reason: delivery.reason }),
      ),
    );
    return open.length > 0;
  });
}

/** Keeps the receipts true while a delivery is under way. */
export function observeDelivery(
  deps: EngineDeps,
  record: WorkerRecord,
  next: NextDelivery,
  signal: AbortSignal,
): DeliveryObserver {
  // Not of one that somebody else has settled meanwhile: it would look open again.
  const each = (make: (messageId: string) => NewEvent) => {
    if (signal.aborted) return;
    const open = next.messageIds.filter((id) => {
      const message = deps.store.message(id);
      return message !== null && isPending(message);
    });
    record.append(...open.map(make));
  };
  return {
    held: (reason) =>
      each((message_id) =>
        fact('message.held', record.subject(next.runId, 'screen'), { message_id, reason }),
      ),
    typed: (bytes) =>
      each((message_id) =>
        fact('message.typed', record.subject(next.runId, 'process'), { message_id, bytes }),
      ),
  };
}

function subjectOf(
  deps: EngineDeps,
  workerId: string,
  runId: string | undefined,
  evidence: Evidence,
): FactSubject {
  return {
    session_id: deps.sessionId,
    worker_id: workerId,
    source: 'supervisor',
    evidence,
    ...(runId === undefined ? {} : { run_id: runId }),
  };
}
