import { join } from 'node:path';
import { composeWorkerPrompt } from '../context/worker-prompt.js';
import type { Perspective } from '../context/perspectives.js';
import { formatWorkerId, workerNumber } from '../../core/ids.js';
import { isLiveWorker, isTerminalRun } from '../../core/state/states.js';
import type { WorkerRow } from '../../core/state/rows.js';
import { hashOf, randomNonce } from '../../platform/ids.js';
import type { Transaction } from '../../store/contract.js';
import { fact, lastRun, type FactSubject } from '../engine/deps.js';
import type { LiveSession, SessionContext } from '../session-context.js';
import { flagPath } from '../places.js';
import { checkSpawnLimits, runLimits, type RunLimits } from './limits.js';

export interface SpawnRequest {
  readonly task: string;
  readonly perspective: string;
  readonly file_scope: readonly string[];
  readonly pass_criteria: string;
  readonly extra_context: string;
  readonly agent_hint?: string | undefined;
  readonly base?: string | undefined;
  readonly backend?: 'tmux' | 'headless' | undefined;
  /** Of running time; then its run ends as timed out. */
  readonly timeout_s?: number | undefined;
  /** How often its process may end before its time and be started again, in its conversation. */
  readonly retries?: number | undefined;
  readonly idempotency_key?: string | undefined;
  readonly sender: string;
}

export interface Reservation {
  readonly request: SpawnRequest;
  readonly perspective: Perspective;
  readonly agent: string;
  readonly backend: string;
  readonly baseCommit: string;
}

/** Number, rows and first message in one transaction, so that parallel spawns and repeats cannot collide. */
export function reserveWorker(
  session: SessionContext,
  live: LiveSession,
  tx: Transaction,
  reservation: Reservation,
): { worker: WorkerRow; reused: boolean } {
  const { request } = reservation;
  const scope = `spawn:${session.sessionId}`;
  const { idempotency_key: _key, sender: _sender, ...input } = request;
  const hash = hashOf(input);
  const known =
    request.idempotency_key === undefined ? null : tx.recall(scope, request.idempotency_key, hash);
  const workers = tx.workers(session.sessionId);
  const existing =
    known === null
      ? findTwin(tx, workers, reservation)
      : workers.find((worker) => worker.worker_id === known.result);
  if (existing !== undefined) return { worker: existing, reused: true };
  checkSpawnLimits(session, live, tx);
  const workerId = formatWorkerId(
    Math.max(0, ...workers.map((worker) => workerNumber(worker.worker_id))) + 1,
  );
  appendReservation(session, live, tx, {
    workerId,
    ...reservation,
    limits: runLimits(live.plan, request),
  });
  if (request.idempotency_key !== undefined) tx.remember(scope, request.idempotency_key, hash, workerId);
  const worker = tx.worker(session.sessionId, workerId);
  if (worker === null) throw new Error(`worker ${workerId} was not created`);
  return { worker, reused: false };
}

/** The same call while the earlier worker is at it returns that worker: a lead that repeats itself gets no duplicate. */
function findTwin(
  tx: Transaction,
  workers: readonly WorkerRow[],
  { request, agent, backend, perspective }: Reservation,
): WorkerRow | undefined {
  if (request.idempotency_key !== undefined) return undefined;
  return workers.find((worker) => {
    const run = lastRun(tx, worker);
    return (
      worker.role === 'worker' &&
      isLiveWorker(worker.state) &&
      (run === null || !isTerminalRun(run.state)) &&
      worker.perspective === perspective.name &&
      worker.agent === agent &&
      worker.backend === backend &&
      worker.task === request.task &&
      worker.pass_criteria === request.pass_criteria &&
      JSON.stringify(worker.file_scope) === JSON.stringify(request.file_scope)
    );
  });
}

function appendReservation(
  session: SessionContext,
  live: LiveSession,
  tx: Transaction,
  reservation: Reservation & { workerId: string; limits: RunLimits },
): void {
  const { workerId, request, perspective, agent, baseCommit, limits } = reservation;
  const name = `${perspective.name}-${workerId}`;
  const branch = `agentorchestr/${session.sessionId}/${name}`;
  const worktree = join(session.places.worktrees, name);
  const [runId, message_id, nonce] = [session.newId(), session.newId(), randomNonce()];
  const text = composeWorkerPrompt({
    alone: live.plan.mode === 'manual',
    isRead: reservation.backend !== 'foreground',
    workerId,
    perspective,
    worktree,
    branch,
    fileScope: request.file_scope,
    passCriteria: request.pass_criteria,
    extraContext: request.extra_context,
    task: request.task,
    flagPath: flagPath(session.places, workerId),
    nonce,
  });
  const subject: FactSubject = {
    session_id: session.sessionId,
    worker_id: workerId,
    ...(live.plan.mode === 'manual'
      ? { source: 'supervisor', evidence: 'process' }
      : { source: 'mcp', evidence: 'protocol' }),
  };
  const ofRun = { ...subject, run_id: runId };
  tx.append(
    fact('worker.created', subject, {
      role: 'worker',
      perspective: perspective.name,
      read_only: perspective.readOnly,
      agent,
      backend: reservation.backend,
      task: request.task,
      file_scope: [...request.file_scope],
      pass_criteria: request.pass_criteria,
      branch,
      worktree,
      base_commit: baseCommit,
    }),
    fact('message.accepted', ofRun, { message_id, kind: 'task', sender: request.sender, text, about: null }),
    fact('run.queued', ofRun, { message_id, number: 1, nonce, retry_of: null, ...limits }),
    fact('message.queued', ofRun, { message_id }),
  );
}
