import { OrchestratorError } from '../../../core/errors/error.js';
import type { REQUEST_KINDS } from '../../../core/events/run.js';
import type { MessageRow, RunRow } from '../../../core/state/rows.js';
import type { Reader, Transaction } from '../../../store/contract.js';
import { fact } from '../../engine/deps.js';
import type { Caller } from '../../operation.js';
import { findConversation, findRun, FIRST_WORKER, optionsOf } from '../conversation-row.js';
import type { Gateway, Requested } from '../gateway.js';
import { once } from '../once.js';
import { informParent, pumpLater } from './child-watch.js';

export type RequestKind = (typeof REQUEST_KINDS)[number];

export interface ReplyRequest {
  readonly run_id: string;
  readonly text: string;
  readonly request_kind: RequestKind;
  readonly wake_parent?: boolean | undefined;
  readonly idempotency_key?: string | undefined;
}

export interface Replied {
  readonly message: MessageRow;
  readonly event: Requested;
  readonly parent: { readonly session_id: string; readonly run_id: string };
  readonly replayed: boolean;
}

/**
 * A child's word to its parent. All but a `status` make its run wait for an answer, which is the next message to it.
 * Throws RUN_NOT_FOUND, NO_PARENT_SESSION, RUN_NOT_AT_WORK, IDEMPOTENCY_KEY_REUSED.
 */
export function replyParent(gateway: Gateway, request: ReplyRequest, caller: Pick<Caller, 'scope'>): Replied {
  const { store } = gateway;
  const { run_id: runId, idempotency_key: key, ...input } = request;
  const { parent } = optionsOf(findConversation(store, findRun(gateway, runId).session_id));
  if (parent === null) throw new OrchestratorError('NO_PARENT_SESSION', { run: runId });
  const { result, replayed } = store.transaction((tx) =>
    once(tx, { scope: `gateway:reply_parent:${runId}`, key, input }, () => {
      const run = tx.run(runId);
      if (run === null) throw new OrchestratorError('RUN_NOT_FOUND', { run: runId });
      if (caller.scope !== 'run' && input.request_kind !== 'status') requireBegun(tx, run);
      const wake = input.wake_parent ?? parent.wake;
      return { ...escalate(gateway, tx, run, { ...input, parent, wake }), parent: parent.session_id };
    }),
  );
  if (result.woken && !replayed) pumpLater(gateway, parent.session_id);
  const event = requests(store, parent.session_id).find(
    ({ data }) => data.escalation_id === result.escalation,
  );
  const message = store.message(result.message);
  if (event === undefined || message === null) throw new Error(`run ${runId} said nothing to its parent`);
  if (event.data.kind !== 'status') gateway.escalations.begin(event);
  return { message, event, parent, replayed };
}

/** Where a client asks in a child's name before its agent has its task, the answer would be taken for the task. */
function requireBegun(tx: Transaction, run: RunRow): void {
  if (run.executor === 'pool' && (tx.message(run.message_id)?.started_at ?? null) === null)
    throw new OrchestratorError('RUN_NOT_AT_WORK', { run: run.run_id, state: 'not begun by its agent' });
}

interface Word {
  readonly text: string;
  readonly request_kind: RequestKind;
  readonly parent: { readonly session_id: string; readonly run_id: string };
  readonly wake: boolean;
}

function escalate(gateway: Gateway, tx: Transaction, run: RunRow, word: Word) {
  const { run_id: runId, session_id: child, worker_id: workerId } = run;
  const { text, request_kind: kind, parent, wake } = word;
  const subject = { source: 'rest', evidence: 'protocol' } as const;
  if (kind !== 'status') {
    if (run.state !== 'running')
      throw new OrchestratorError('RUN_NOT_AT_WORK', { run: runId, state: run.state });
    const own = { session_id: child, worker_id: workerId, run_id: runId, ...subject };
    tx.append(
      fact('question.asked', own, { question: text }),
      fact('run.waiting', own, { kind: 'question', text }),
    );
  }
  const escalation = gateway.newId();
  const { escalationMs } = gateway.settings;
  const isTimed = kind !== 'status' && escalationMs !== null;
  const above = tx.run(parent.run_id);
  tx.append(
    fact(
      'escalation.requested',
      {
        session_id: parent.session_id,
        worker_id: above?.worker_id ?? FIRST_WORKER,
        run_id: parent.run_id,
        ...subject,
      },
      {
        ...{ escalation_id: escalation, kind, text, child, run: runId },
        expires_at: isTimed ? new Date(gateway.clock.now() + escalationMs).toISOString() : null,
      },
    ),
  );
  const note = `Child session ${child} (run ${runId}) sends a ${kind.replace('_', ' ')}:\n\n${text}`;
  const { woken, messageId } = informParent(gateway, tx, {
    ...{ parent: parent.session_id, child, wake },
    text: kind === 'status' ? note : `${note}\n\nAnswer it by sending to session ${child}.`,
  });
  return { escalation, woken, message: messageId };
}

export function requests(reader: Reader, parentSessionId: string): Requested[] {
  return reader.events({ after: 0, sessionId: parentSessionId, types: ['escalation.requested'] });
}

export type EscalationState = 'open' | 'answered' | 'expired' | 'told' | 'over';

/** `told`: it asks for nothing. `over`: the run that asked has ended without an answer. */
export function escalationState(reader: Reader, { session_id: sessionId, data }: Requested): EscalationState {
  if (data.kind === 'status') return 'told';
  const types = ['escalation.answered', 'escalation.expired'] as const;
  for (const event of reader.events({ after: 0, sessionId, types }))
    if (event.data.escalation_id === data.escalation_id)
      return event.type === 'escalation.answered' ? 'answered' : 'expired';
  return reader.run(data.run)?.state === 'waiting' ? 'open' : 'over';
}

/** What the run waits for an answer to; null: nothing of that kind. */
export function openEscalation(reader: Reader, run: RunRow): Requested | null {
  const { parent } = optionsOf(findConversation(reader, run.session_id));
  if (parent === null || run.state !== 'waiting') return null;
  return (
    requests(reader, parent.session_id).findLast(
      (event) => event.data.run === run.run_id && escalationState(reader, event) === 'open',
    ) ?? null
  );
}

/** Before a message is taken on: who may say it. Throws ANSWER_FOR_PEOPLE. */
export function checkAnswerer(reader: Reader, sessionId: string, caller: Pick<Caller, 'scope'>): void {
  if (caller.scope !== 'run') return;
  const run = reader.runs(sessionId).find(({ state }) => state === 'waiting');
  if (run !== undefined && openEscalation(reader, run)?.data.kind === 'permission_request')
    throw new OrchestratorError('ANSWER_FOR_PEOPLE', { session: sessionId });
}

/** The message that continued the run was its answer. */
export function answered(
  tx: Transaction,
  { session_id, worker_id, run_id, data }: Requested,
  { by, messageId }: { by: string; messageId: string },
): void {
  tx.append(
    fact(
      'escalation.answered',
      {
        session_id,
        ...(worker_id === undefined ? {} : { worker_id }),
        ...(run_id === undefined ? {} : { run_id }),
        ...{ source: 'rest', evidence: 'protocol' },
      },
      { escalation_id: data.escalation_id, by, message_id: messageId },
    ),
  );
}
