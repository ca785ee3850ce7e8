import { z } from 'zod';
import type { StoredEvent } from '../../core/events/index.js';
import { EVIDENCE, EXECUTORS, RUN_STATES, isTerminalRun } from '../../core/state/states.js';
import type { MessageRow, RunRow, SessionRow, WorkerRow } from '../../core/state/rows.js';
import type { Reader } from '../../store/contract.js';
import { optionsOf } from './conversation-row.js';

/** How sessions, runs, messages and events stand on the wire: made from the rows whenever somebody asks. */
const time = z.string().describe('RFC 3339, UTC, with milliseconds');

export const sessionSchema = z.object({
  id: z.string(),
  title: z.string(),
  state: z.enum(['idle', 'active', 'archived']).describe('active: one of its runs is not over'),
  provider: z.string().describe('whom its runs ask first'),
  providers: z.array(z.string()).describe('all of them, in order'),
  cwd: z.string(),
  permissions: z.enum(['agent', 'bypass']),
  metadata: z.record(z.string(), z.unknown()),
  parent_session_id: z.string().nullable(),
  parent_run_id: z.string().nullable().describe('the run that spawned it'),
  spawn_depth: z.number(),
  provider_threads: z
    .record(z.string(), z.object({ thread_id: z.string(), updated_at: time }))
    .describe("by provider, the agent's own conversation id"),
  created_at: time,
  updated_at: time,
});

export function sessionView(reader: Reader, row: SessionRow): z.input<typeof sessionSchema> {
  const workers = reader.workers(row.session_id);
  const threads = workers.flatMap(({ agent, thread_id, other_threads, updated_at }) => [
    ...Object.entries(other_threads).map(
      ([name, other]) => [name, { thread_id: other.thread_id, updated_at: other.at }] as const,
    ),
    ...(thread_id === null ? [] : [[agent, { thread_id, updated_at }] as const]),
  ]);
  const options = optionsOf(row);
  const isActive = reader.openRun(row.session_id) !== null;
  return {
    id: row.session_id,
    title: row.goal,
    state: row.state !== 'active' ? 'archived' : isActive ? 'active' : 'idle',
    ...{ provider: row.lead_agent, providers: row.worker_agents },
    cwd: row.project,
    ...{ permissions: options.permissions, metadata: options.metadata },
    parent_session_id: options.parent?.session_id ?? null,
    parent_run_id: options.parent?.run_id ?? null,
    spawn_depth: options.depth,
    provider_threads: Object.fromEntries(threads),
    created_at: row.created_at,
    // Its own row changes with its settings only.
    updated_at: workers.map((worker) => worker.updated_at).reduce(later, row.updated_at),
  };
}

const later = (one: string, other: string) => (one > other ? one : other);

/** The conversation that this agent goes on with when it is asked again. */
export function threadWith({ agent, thread_id, other_threads }: WorkerRow, asked: string): string | null {
  return asked === agent ? thread_id : (other_threads[asked]?.thread_id ?? null);
}

export const runSchema = z.object({
  id: z.string(),
  session_id: z.string(),
  worker_id: z.string(),
  parent_run_id: z.string().nullable(),
  retry_of: z.string().nullable(),
  state: z.enum(RUN_STATES),
  waiting: z.object({ kind: z.string(), text: z.string() }).nullable(),
  executor: z.enum(EXECUTORS),
  provider: z.string().describe('who did it; of one that nobody began, who is asked first'),
  input_message_id: z.string(),
  prompt: z.string(),
  attempts: z.number(),
  provider_thread_id: z.string().nullable(),
  result_text: z.string().nullable().describe('the answer of a run that succeeded'),
  error: z.object({ code: z.string().nullable(), message: z.string() }).nullable(),
  evidence: z.enum(EVIDENCE).nullable().describe('how its outcome is known'),
  timeout_s: z.number().nullable(),
  cancel_requested_at: time.nullable(),
  queued_at: time,
  started_at: time.nullable(),
  finished_at: time.nullable(),
  updated_at: time,
});

export function runView(reader: Reader, row: RunRow): z.input<typeof runSchema> {
  const worker = reader.worker(row.session_id, row.worker_id);
  const isOver = isTerminalRun(row.state);
  const provider = row.agent ?? reader.session(row.session_id)?.lead_agent ?? '';
  const hasAnswer = row.state === 'succeeded';
  return {
    id: row.run_id,
    ...{ session_id: row.session_id, worker_id: row.worker_id },
    ...{ parent_run_id: row.parent_run_id, retry_of: row.retry_of, state: row.state },
    waiting:
      row.state === 'waiting' ? { kind: row.waiting_kind ?? 'dialog', text: row.waiting_text ?? '' } : null,
    executor: row.executor,
    provider,
    input_message_id: row.message_id,
    prompt: reader.message(row.message_id)?.text ?? '',
    attempts: row.attempts,
    provider_thread_id: worker === null ? null : threadWith(worker, provider),
    result_text: hasAnswer ? row.summary : null,
    error: isOver && !hasAnswer ? { code: row.failure_code, message: row.summary } : null,
    evidence: row.evidence,
    timeout_s: row.timeout_ms === null ? null : row.timeout_ms / 1_000,
    cancel_requested_at: row.cancel_requested_at,
    ...{ queued_at: row.created_at, started_at: row.started_at, finished_at: row.ended_at },
    updated_at: row.updated_at,
  };
}

export const messageSchema = z.object({
  id: z.string(),
  session_id: z.string(),
  run_id: z.string().nullable(),
  role: z.enum(['user', 'assistant', 'system']),
  text: z.string(),
  sender: z.string(),
  receipt: z.string().nullable().describe('how far an instruction got; null for what is none'),
  created_at: time,
});
type Message = z.input<typeof messageSchema>;

export function messageView(row: MessageRow): Message {
  const { kind } = row;
  const role = kind === 'system' || kind === 'assistant' ? kind : 'user';
  return {
    ...{ id: row.message_id, session_id: row.session_id, run_id: row.run_id, role },
    ...{ text: row.text, sender: row.sender, created_at: row.accepted_at },
    receipt: role === 'user' ? row.state : null,
  };
}

/** The answer of a run is a message of its own, named after the run; null: it has none. */
export function answerView(run: RunRow, provider: string): Message | null {
  if (run.state !== 'succeeded' || run.ended_at === null) return null;
  return {
    ...{ id: `answer-${run.run_id}`, session_id: run.session_id, run_id: run.run_id, role: 'assistant' },
    ...{ text: run.summary, sender: provider, receipt: null, created_at: run.ended_at },
  };
}

export const eventSchema = z.object({
  cursor: z.string().describe('give it back to go on after this event'),
  seq: z.number(),
  type: z.string(),
  at: time,
  session_id: z.string(),
  worker_id: z.string().optional(),
  run_id: z.string().optional(),
  source: z.string(),
  evidence: z.enum(EVIDENCE),
  v: z.number(),
  data: z.record(z.string(), z.unknown()),
});

export function eventView(event: StoredEvent): z.input<typeof eventSchema> {
  return { cursor: String(event.seq), ...event };
}
