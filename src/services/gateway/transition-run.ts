import { OrchestratorError } from '../../core/errors/error.js';
import type { NewEvent, StoredEvent } from '../../core/events/index.js';
import type { RunRow, WorkerRow } from '../../core/state/rows.js';
import {
  TERMINAL_RUN_STATES,
  isTerminalRun,
  type RunState,
  type TerminalRunState,
} from '../../core/state/states.js';
import type { Transaction } from '../../store/contract.js';
import { fact, type FactSubject } from '../engine/deps.js';
import { isPending } from '../engine/instruct.js';
import { endRun } from '../engine/outcomes.js';
import { cancelTree } from './children/cancel-tree.js';
import type { Gateway } from './gateway.js';
import { findRun, FIRST_WORKER } from './conversation-row.js';

export interface TransitionRequest {
  readonly run_id: string;
  readonly to: RunState;
  readonly expected?: RunState | undefined;
  /** Its answer where it succeeds, else why it is so. */
  readonly summary: string;
  readonly failureCode: string | null;
  readonly by: string;
}

/** What a run may become by somebody's word. Its own agent moves a run of the pool; from outside it can be ended. */
function allowedFrom(run: Pick<RunRow, 'state' | 'executor'>): readonly RunState[] {
  if (isTerminalRun(run.state)) return [];
  if (run.executor === 'pool') return ['failed', 'cancelled'];
  switch (run.state) {
    case 'queued':
      return ['running', 'failed', 'cancelled'];
    case 'running':
      return ['waiting', ...TERMINAL_RUN_STATES];
    case 'waiting':
      return ['running', ...TERMINAL_RUN_STATES];
    default:
      return [];
  }
}

/**
 * Moves a run to another state. null: it is there already, and nothing was done. Throws RUN_NOT_FOUND, STATUS_CONFLICT,
 * INVALID_TRANSITION.
 */
export async function transitionRun(
  gateway: Gateway,
  request: TransitionRequest,
): Promise<StoredEvent | null> {
  const { store } = gateway;
  const run = findRun(gateway, request.run_id);
  const before = store.head();
  const moved =
    run.executor === 'external'
      ? store.transaction((tx) => moveExternal(gateway, tx, request))
      : await endOwn(gateway, request);
  if (!moved) return null;
  (await gateway.conversations.engine(run.session_id)).pump(FIRST_WORKER);
  const { run_id: runId, session_id: sessionId } = run;
  const after = store.events({ after: before, sessionId, runId, limit: 100 });
  return after.find(({ type }) => type.startsWith('run.')) ?? null;
}

/** Compared and moved in one transaction: of two that ask at once one is told what the other did. */
function moveExternal(gateway: Gateway, tx: Transaction, request: TransitionRequest): boolean {
  const run = tx.run(request.run_id);
  const worker = run === null ? null : tx.worker(run.session_id, run.worker_id);
  if (run === null || worker === null || !check(run, request)) return false;
  const { to } = request;
  const subject: FactSubject = {
    ...{ session_id: run.session_id, worker_id: run.worker_id, run_id: run.run_id },
    ...{ source: 'rest', evidence: 'protocol' },
  };
  if (to === 'waiting') tx.append(fact('run.waiting', subject, { kind: 'question', text: request.summary }));
  else if (isTerminalRun(to)) endExternal(gateway, tx, { run, worker, to, request, subject });
  else {
    const attempt = run.state === 'queued' ? run.attempts + 1 : run.attempts;
    const attempt_id = run.attempt_id ?? gateway.newId();
    tx.append(fact('run.started', subject, { attempt, attempt_id, new_process: false }));
  }
  return true;
}

function endExternal(
  gateway: Gateway,
  tx: Transaction,
  end: {
    readonly run: RunRow;
    readonly worker: WorkerRow;
    readonly to: TerminalRunState;
    readonly request: TransitionRequest;
    readonly subject: FactSubject;
  },
): void {
  const { run, worker, to, request, subject } = end;
  const { summary, failureCode } = request;
  const deps = { sessionId: run.session_id, newId: () => gateway.newId() };
  endRun(deps, tx, worker, run.run_id, {
    ...{ type: `run.${to}`, summary, evidence: 'protocol' },
    ...(failureCode === null ? {} : { failureCode }),
  });
  const answers: NewEvent[] = tx
    .messages(run.session_id, run.worker_id)
    .filter((message) => message.run_id === run.run_id && isPending(message))
    .map(({ message_id }) => fact('message.answered', subject, { message_id }));
  tx.append(...answers);
}

async function endOwn(gateway: Gateway, request: TransitionRequest): Promise<boolean> {
  const run = findRun(gateway, request.run_id);
  if (!check(run, request)) return false;
  const { summary, to, by } = request;
  if (to === 'cancelled') await cancelTree(gateway, run, { by, reason: summary, evidence: 'operator' });
  else {
    const engine = await gateway.conversations.engine(run.session_id);
    const failureCode = request.failureCode ?? 'OPERATOR';
    await engine.endRun(run, { type: 'run.failed', summary, evidence: 'operator', failureCode });
  }
  return true;
}

/** false: it is so already. */
function check(run: RunRow, { to, expected }: TransitionRequest): boolean {
  const { run_id: id, state, executor } = run;
  if (expected !== undefined && state !== expected)
    throw new OrchestratorError('STATUS_CONFLICT', { run: id, state, expected });
  if (state === to) return false;
  const allowed = allowedFrom(run);
  if (allowed.includes(to)) return true;
  throw new OrchestratorError('INVALID_TRANSITION', { run: id, from: state, to, allowed, executor });
}
