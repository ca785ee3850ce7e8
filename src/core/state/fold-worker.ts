import type { StoredEvent } from '../events/index.js';
import type { WorkerRow } from './rows.js';

export function foldWorker(row: WorkerRow | null, event: StoredEvent): WorkerRow | null {
  if (event.type === 'worker.created') return createWorker(event);
  if (row === null) return null;
  const next = change(row, event);
  return next === null ? row : { ...row, ...next, updated_at: event.at };
}

/** `branch.integrated` names its worker in the data; every other event in the envelope. */
export function workerOf(event: StoredEvent): string | undefined {
  return event.type === 'branch.integrated' ? event.data.worker : event.worker_id;
}

const NOT_WAITING = {
  waiting_kind: null,
  waiting_text: null,
  waiting_choices: null,
  waiting_hash: null,
  waiting_via: null,
  waiting_since: null,
} as const;

function createWorker(event: Extract<StoredEvent, { type: 'worker.created' }>): WorkerRow {
  return {
    session_id: event.session_id,
    worker_id: event.worker_id ?? '',
    ...event.data,
    state: 'starting',
    ...NOT_WAITING,
    attempt_id: null,
    pane_id: null,
    window: null,
    thread_id: null,
    transcript_path: null,
    other_threads: {},
    last_run_id: null,
    integrated_commit: null,
    exit_status: null,
    output_tail: null,
    retired: false,
    created_at: event.at,
    updated_at: event.at,
  };
}

function change(row: WorkerRow, event: StoredEvent): Partial<WorkerRow> | null {
  switch (event.type) {
    case 'worker.started':
      return {
        attempt_id: event.data.attempt_id,
        pane_id: event.data.pane_id,
        window: event.data.window,
      };
    case 'worker.ready':
      // What the agent shows may be known before the sender finds it ready; then it stands.
      return row.state === 'working' || row.state === 'waiting' ? {} : { ...NOT_WAITING, state: 'idle' };
    case 'worker.working':
      // Whoever retired it may have died before its end: then it is one like any other.
      return { ...NOT_WAITING, state: 'working', retired: false };
    case 'worker.idle':
      return { ...NOT_WAITING, state: 'idle' };
    case 'worker.waiting':
      return {
        state: 'waiting',
        waiting_kind: event.data.kind,
        waiting_text: event.data.text,
        waiting_choices: event.data.choices ?? null,
        waiting_hash: event.data.prompt_hash ?? null,
        waiting_via: event.data.via ?? null,
        // The same prompt, of which more is known now.
        waiting_since:
          row.waiting_kind === event.data.kind && row.waiting_hash === null ? row.waiting_since : event.at,
      };
    case 'worker.exited':
      return {
        ...NOT_WAITING,
        state: 'exited',
        exit_status: event.data.status,
        output_tail: event.data.output_tail,
      };
    case 'worker.lost':
      return {
        ...NOT_WAITING,
        state: 'lost',
        ...(event.data.never_started === true ? { attempt_id: null } : {}),
      };
    case 'worker.retired':
      return { retired: true };
    case 'thread.opened':
      return {
        thread_id: event.data.thread_id,
        transcript_path:
          event.data.transcript_path ?? (event.data.thread_id === row.thread_id ? row.transcript_path : null),
      };
    case 'thread.lost':
      return row.thread_id === event.data.thread_id ? { thread_id: null, transcript_path: null } : null;
    case 'worker.switched':
      return switched(row, event.data.agent, event.at);
    case 'worker.moved':
      return { window: event.data.window };
    case 'run.queued':
      return { last_run_id: event.run_id ?? row.last_run_id };
    case 'run.started':
      return event.data.new_process
        ? { state: 'starting', attempt_id: event.data.attempt_id, exit_status: null, retired: false }
        : null;
    case 'branch.integrated':
      return { integrated_commit: event.data.worker_commit };
    default:
      return null;
  }
}

/** What the one before had is kept, and what the other one had is taken up again. */
function switched(row: WorkerRow, agent: string, at: string): Partial<WorkerRow> {
  const { [agent]: own, ...others } = row.other_threads;
  const { thread_id, transcript_path } = row;
  return {
    agent,
    thread_id: own?.thread_id ?? null,
    transcript_path: own?.transcript_path ?? null,
    other_threads:
      thread_id === null ? others : { ...others, [row.agent]: { thread_id, transcript_path, at } },
  };
}
