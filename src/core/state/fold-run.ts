import type { StoredEvent } from '../events/index.js';
import type { AttemptRow, RunRow } from './rows.js';
import { isTerminalRun, type TerminalRunState } from './states.js';

/** Terminal states are final: events that come after one change nothing (the store also refuses to append them). */
export function foldRun(row: RunRow | null, event: StoredEvent): RunRow | null {
  if (event.type === 'run.queued') return queueRun(event);
  if (row === null || isTerminalRun(row.state)) return row;
  const next = change(row, event);
  return next === null ? row : { ...row, ...next, updated_at: event.at };
}

function queueRun(event: Extract<StoredEvent, { type: 'run.queued' }>): RunRow {
  return {
    session_id: event.session_id,
    worker_id: event.worker_id ?? '',
    run_id: event.run_id ?? '',
    number: event.data.number,
    state: 'queued',
    message_id: event.data.message_id,
    nonce: event.data.nonce,
    retry_of: event.data.retry_of,
    parent_run_id: event.data.parent_run_id ?? null,
    timeout_ms: event.data.timeout_ms ?? null,
    retries: event.data.retries ?? 0,
    fallbacks: event.data.fallbacks ?? [],
    executor: event.data.executor ?? 'pool',
    agent: null,
    failed_attempts: 0,
    attempts: 0,
    attempt_id: null,
    waiting_kind: null,
    waiting_text: null,
    reported: [],
    reports_returned: 0,
    nudges: 0,
    cancel_requested_at: null,
    stalled_since: null,
    stalled_line: null,
    summary: '',
    failure_code: null,
    evidence: null,
    created_at: event.at,
    started_at: null,
    ended_at: null,
    updated_at: event.at,
  };
}

export const TERMINAL_EVENTS = {
  'run.succeeded': 'succeeded',
  'run.blocked': 'blocked',
  'run.failed': 'failed',
  'run.timed_out': 'timed_out',
  'run.cancelled': 'cancelled',
  'run.interrupted': 'interrupted',
} as const satisfies Record<`run.${TerminalRunState}`, TerminalRunState>;

function change(row: RunRow, event: StoredEvent): Partial<RunRow> | null {
  const notWaiting = { waiting_kind: null, waiting_text: null };
  const moves = { stalled_since: null, stalled_line: null };
  switch (event.type) {
    case 'run.started':
      return {
        ...notWaiting,
        ...moves,
        state: 'running',
        attempts: event.data.attempt,
        attempt_id: event.data.attempt_id,
        agent: event.data.agent ?? row.agent,
        started_at: row.started_at ?? event.at,
      };
    case 'worker.switched':
      return { agent: event.data.agent };
    case 'run.waiting':
      return { ...moves, state: 'waiting', waiting_kind: event.data.kind, waiting_text: event.data.text };
    case 'run.stalled':
      return { stalled_since: event.data.since ?? event.at, stalled_line: event.data.last_line ?? '' };
    case 'run.moved':
      return moves;
    case 'worker.working':
      // A gate of the agent itself (permission, trust …) was passed; a question still waits for its answer.
      return row.state === 'waiting' && row.waiting_kind !== 'question'
        ? { ...notWaiting, state: 'running' }
        : null;
    case 'run.reported':
      return event.data.accepted
        ? {
            reported: [
              ...row.reported,
              {
                state: event.data.state,
                summary: event.data.summary,
                evidence: event.evidence,
                at: event.at,
              },
            ],
          }
        : { reports_returned: row.reports_returned + 1 };
    case 'run.attempt_failed':
      return {
        ...notWaiting,
        ...moves,
        state: 'queued',
        failed_attempts: row.failed_attempts + (event.data.counts === false ? 0 : 1),
      };
    case 'run.cancel_requested':
      return { cancel_requested_at: row.cancel_requested_at ?? event.at };
    case 'message.accepted':
      if (event.data.kind === 'nudge') return { nudges: row.nudges + 1 };
      // A later instruction re-arms completion: what was reported before it no longer counts. It also takes a waiting
      // run up again, at once: whoever waits for the run now waits for what the message leads to.
      return {
        ...(row.state === 'waiting' ? { ...notWaiting, state: 'running' } : {}),
        reported: [],
        reports_returned: 0,
        nudges: 0,
      };
    case 'run.succeeded':
    case 'run.blocked':
    case 'run.failed':
    case 'run.timed_out':
    case 'run.cancelled':
    case 'run.interrupted':
      return {
        ...notWaiting,
        ...moves,
        state: TERMINAL_EVENTS[event.type],
        summary: event.data.summary,
        failure_code: event.type === 'run.failed' ? event.data.failure_code : null,
        evidence: event.evidence,
        ended_at: event.at,
      };
    default:
      return null;
  }
}

export function foldAttempt(row: AttemptRow | null, event: StoredEvent): AttemptRow | null {
  if (event.type === 'run.started' && event.data.new_process) {
    return {
      attempt_id: event.data.attempt_id,
      session_id: event.session_id,
      worker_id: event.worker_id ?? '',
      run_id: event.run_id ?? '',
      number: event.data.attempt,
      state: 'starting',
      pid: null,
      pid_started_at: null,
      exit_status: null,
      started_at: event.at,
      ended_at: null,
    };
  }
  if (row === null) return null;
  if (event.type === 'worker.started')
    return {
      ...row,
      // A process may end before it is told that it began.
      state: row.state === 'ended' ? row.state : 'running',
      pid: event.data.pid,
      pid_started_at: event.data.pid_started_at,
    };
  if (event.type === 'worker.exited' || event.type === 'run.attempt_ended')
    return { ...row, state: 'ended', exit_status: event.data.status, ended_at: event.at };
  if (event.type === 'run.attempt_failed' && row.state !== 'ended')
    return { ...row, state: 'ended', ended_at: event.at };
  return row;
}
