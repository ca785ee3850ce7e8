import { randomNonce } from '../../platform/ids.js';
import { OrchestratorError } from '../../core/errors/error.js';
import {
  isTerminalRun,
  takesInstructions,
  type Executor,
  type WaitingKind,
} from '../../core/state/states.js';
import type { MessageRow, RunRow, WorkerRow } from '../../core/state/rows.js';
import type { EventSource, NewEvent } from '../../core/events/index.js';
import type { Transaction } from '../../store/contract.js';
import { fact, type EngineDeps } from './deps.js';

export interface Instruction {
  readonly kind: 'task' | 'follow_up';
  readonly text: string;
  readonly sender: string;
  readonly source: EventSource;
  /** Of the run that it makes: who asked for it, and what it may take. */
  readonly parentRunId?: string;
  readonly timeoutMs?: number;
  readonly retries?: number;
  readonly retryOf?: string;
  /** Workers that stand in, in order, for one that fails before it has said or done anything. */
  readonly fallbacks?: readonly string[];
  readonly executor?: Executor;
}

export interface AcceptedInstruction {
  readonly messageId: string;
  readonly runId: string;
  /** true: the message continues a run that waits (or the lead's one run); false: it makes a run of its own. */
  readonly continues: boolean;
}

/**
 * Takes an instruction on, inside the caller's transaction: from its commit on it is not lost. Throws
 * WORKER_NOT_RUNNING for a lead whose process is over, and for a worker that never came to life.
 */
export function acceptInstruction(
  deps: Pick<EngineDeps, 'sessionId' | 'newId'>,
  tx: Transaction,
  worker: WorkerRow,
  instruction: Instruction,
): AcceptedInstruction {
  if (!takesInstructions(worker))
    throw new OrchestratorError('WORKER_NOT_RUNNING', { worker: worker.worker_id, state: worker.state });
  const runs = tx.runs(deps.sessionId, worker.worker_id);
  const continued = runs.find((run) => continuesWith(worker, run));
  const messageId = deps.newId();
  const runId = continued?.run_id ?? deps.newId();
  const subject = {
    session_id: deps.sessionId,
    worker_id: worker.worker_id,
    run_id: runId,
    source: instruction.source,
    evidence: 'protocol' as const,
  };
  const events: NewEvent[] = [
    fact('message.accepted', subject, {
      message_id: messageId,
      kind: instruction.kind,
      sender: instruction.sender,
      text: instruction.text,
      about: null,
    }),
  ];
  if (continued === undefined)
    events.push(
      fact('run.queued', subject, {
        message_id: messageId,
        number: runs.length + 1,
        nonce: randomNonce(),
        retry_of: instruction.retryOf ?? null,
        ...(instruction.parentRunId === undefined ? {} : { parent_run_id: instruction.parentRunId }),
        ...(instruction.timeoutMs === undefined ? {} : { timeout_ms: instruction.timeoutMs }),
        ...(instruction.retries === undefined ? {} : { retries: instruction.retries }),
        ...((instruction.fallbacks ?? []).length === 0
          ? {}
          : { fallbacks: [...(instruction.fallbacks ?? [])] }),
        ...(instruction.executor === undefined ? {} : { executor: instruction.executor }),
      }),
    );
  else if (continued.waiting_kind === 'question')
    events.push(fact('question.answered', subject, { message_id: messageId }));
  events.push(fact('message.queued', subject, { message_id: messageId }));
  tx.append(...events);
  return { messageId, runId, continues: continued !== undefined };
}

/** At these the turn stands still and goes on without us; a message is no answer to them. */
const GATES: readonly (WaitingKind | null)[] = ['permission', 'trust'];

/** A waiting run is continued by the next message through any door; the lead works on one run from start to end. */
function continuesWith(worker: WorkerRow, run: RunRow): boolean {
  if (worker.role === 'lead') return !isTerminalRun(run.state);
  return run.state === 'waiting' && !GATES.includes(run.waiting_kind);
}

/** Messages that still have to reach the agent, in order of acceptance; notices are handled apart. */
export function undelivered(messages: readonly MessageRow[]): MessageRow[] {
  return messages.filter(
    (message) => message.kind !== 'notice' && !isContext(message.kind) && isPending(message),
  );
}

/** Not to be delivered by itself: it goes with an instruction (`in-conversation.ts`). */
export function isContext(kind: MessageRow['kind']): kind is 'system' | 'assistant' {
  return kind === 'system' || kind === 'assistant';
}

export function isPending(message: MessageRow): boolean {
  return message.state === 'accepted' || message.state === 'queued' || message.state === 'held';
}
