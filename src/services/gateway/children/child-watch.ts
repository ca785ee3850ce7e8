import { TERMINAL_EVENTS } from '../../../core/state/fold-run.js';
import { isTerminalRun } from '../../../core/state/states.js';
import type { NewEvent } from '../../../core/events/index.js';
import type { RunRow } from '../../../core/state/rows.js';
import type { Transaction } from '../../../store/contract.js';
import { fact } from '../../engine/deps.js';
import { acceptInstruction } from '../../engine/instruct.js';
import { findConversation, FIRST_WORKER, firstWorker, optionsOf } from '../conversation-row.js';
import type { Gateway } from '../gateway.js';

/** Tells parents, once and for good, what became of the runs that they asked their children for. Returns its end. */
export function watchChildren(gateway: Gateway): () => void {
  const { store, logger } = gateway;
  const tell = (runId: string) => {
    try {
      tellParent(gateway, runId);
    } catch (error) {
      logger.error({ run: runId, err: error }, 'its parent was not told');
    }
  };
  const end = store.subscribe(store.head(), ({ type, run_id: runId }) => {
    if (runId !== undefined && type in TERMINAL_EVENTS) tell(runId);
  });
  // What ended while there was nobody to tell.
  for (const event of store.events({ after: 0, types: ['child.spawned'] }))
    for (const { run_id: runId } of store.runs(event.data.child)) tell(runId);
  return end;
}

function tellParent(gateway: Gateway, runId: string): void {
  const { store } = gateway;
  const woken = store.transaction((tx) => {
    const run = tx.run(runId);
    const above = tx.run(run?.parent_run_id ?? '');
    if (run === null || above === null || above.session_id === run.session_id) return null;
    if (!isTerminalRun(run.state) || isTold(tx, above, runId)) return null;
    const { session_id: child, state, summary } = run;
    const subject = { session_id: above.session_id, worker_id: above.worker_id, run_id: above.run_id };
    const source = { source: 'supervisor', evidence: run.evidence ?? 'protocol' } as const;
    tx.append(fact('child.finished', { ...subject, ...source }, { child, run: runId, state, summary }));
    const text = `Child session ${child} (run ${runId}) ${state}:\n\n${summary}`;
    const wake = optionsOf(findConversation(tx, child)).parent?.wake === true;
    return informParent(gateway, tx, { parent: above.session_id, child, text, wake }).woken
      ? above.session_id
      : null;
  });
  if (woken !== null) pumpLater(gateway, woken);
}

function isTold(tx: Transaction, { session_id: sessionId, run_id: runId }: RunRow, child: string): boolean {
  return tx
    .events({ after: 0, sessionId, runId, types: ['child.finished'] })
    .some(({ data }) => data.run === child);
}

/** A run of the parent for it, where one was wished for and can be; else it lies in its inbox. */
export function informParent(
  gateway: Gateway,
  tx: Transaction,
  { parent, child, text, wake }: { parent: string; child: string; text: string; wake: boolean },
): { woken: boolean; messageId: string } {
  const sender = `session ${child}`;
  const worker = firstWorker(tx, parent);
  const isOpen = findConversation(tx, parent).state === 'active';
  // What waits, waits for somebody else's answer: this is none.
  const waits = tx.runs(parent).some(({ state }) => state === 'waiting');
  if (wake && isOpen && !waits) {
    const deps = { sessionId: parent, newId: () => gateway.newId() };
    const given = { kind: 'follow_up', text, sender, source: 'supervisor' } as const;
    return { woken: true, messageId: acceptInstruction(deps, tx, worker, given).messageId };
  }
  const messageId = gateway.newId();
  const subject = { session_id: parent, worker_id: FIRST_WORKER } as const;
  const notice: NewEvent = fact(
    'message.accepted',
    { ...subject, source: 'supervisor', evidence: 'protocol' },
    { message_id: messageId, kind: 'notice', sender, text, about: null },
  );
  tx.append(notice);
  return { woken: false, messageId };
}

/** From its commit on a run is not lost; that it cannot begin now is for the log. */
export function pumpLater({ conversations, logger }: Gateway, sessionId: string): void {
  conversations.engine(sessionId).then(
    (engine) => engine.pump(FIRST_WORKER),
    (error: unknown) => logger.error({ session: sessionId, err: error }, 'not woken'),
  );
}
