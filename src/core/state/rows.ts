import type { CommandResult, FrozenCommand } from '../events/index.js';
import type {
  Choice,
  Evidence,
  Executor,
  MessageState,
  RunState,
  SessionState,
  WaitingKind,
  WaitingVia,
  WorkerState,
} from './states.js';

/**
 * The rows of the store. Each is a fold of events (see the fold files beside this one); nothing else writes them.
 * Times are ISO strings with milliseconds; absent values are null, never undefined, so rows compare whole.
 */
export interface SessionRow {
  session_id: string;
  kind: 'goal' | 'conversation' | 'batch' | 'job' | 'chat';
  goal: string;
  project: string;
  state: SessionState;
  summary: string;
  reason: string | null;
  base_commit: string;
  base_statement: string;
  repository: string;
  subdirectory: string;
  lead_agent: string;
  worker_agents: string[];
  options: Record<string, unknown>;
  verify_commands: FrozenCommand[];
  setup_commands: FrozenCommand[];
  tmux_socket: string | null;
  directory: string | null;
  integration_branch: string | null;
  integration_worktree: string | null;
  /** Commit of the integration branch after the last integration; null before the first. */
  integration_commit: string | null;
  /** What the lead declared, which ends the session; null: it has not yet, or goes on after an end. */
  verdict: 'done' | 'failed' | null;
  last_progress: string | null;
  /** How --apply went; null when it was not asked for. */
  applied: string | null;
  /** When what it left was removed; null: everything is where it was. */
  cleaned_at: string | null;
  created_at: string;
  updated_at: string;
  ended_at: string | null;
}

export interface WorkerRow {
  session_id: string;
  worker_id: string;
  role: 'lead' | 'worker';
  perspective: string;
  read_only: boolean;
  agent: string;
  backend: string;
  state: WorkerState;
  waiting_kind: WaitingKind | null;
  waiting_text: string | null;
  /** What its prompt takes as an answer; null where nobody but a person in the pane can answer it. */
  waiting_choices: Choice[] | null;
  /** Names the very prompt, so that no answer meets another one. */
  waiting_hash: string | null;
  waiting_via: WaitingVia | null;
  waiting_since: string | null;
  task: string;
  file_scope: string[];
  pass_criteria: string;
  branch: string | null;
  worktree: string;
  base_commit: string;
  attempt_id: string | null;
  pane_id: string | null;
  window: string | null;
  thread_id: string | null;
  /** The file in which its agent keeps that conversation; null where it does not say. */
  transcript_path: string | null;
  /** By agent, the conversations of those that were asked before the one that is asked now: whoever goes back goes on in it. */
  other_threads: Record<string, { thread_id: string; transcript_path: string | null; at: string }>;
  last_run_id: string | null;
  /** The worker's commit that the last integration took; null while nothing was integrated. */
  integrated_commit: string | null;
  exit_status: number | null;
  /** Last lines of its screen, kept when the process ended. */
  output_tail: string | null;
  retired: boolean;
  created_at: string;
  updated_at: string;
}

export interface ReportedOutcome {
  state: 'succeeded' | 'blocked' | 'failed';
  summary: string;
  evidence: Evidence;
  at: string;
}

export interface RunRow {
  session_id: string;
  worker_id: string;
  run_id: string;
  number: number;
  state: RunState;
  message_id: string;
  nonce: string;
  retry_of: string | null;
  /** The run whose agent asked for this one; it is cancelled with it. */
  parent_run_id: string | null;
  /** Of running time; null: no limit. */
  timeout_ms: number | null;
  /** How many failed attempts are followed by another. */
  retries: number;
  /** Workers that stand in, in order, for one that fails before it has said or done anything. */
  fallbacks: string[];
  /** `external`: nothing of ours does it; whoever does says what becomes of it. */
  executor: Executor;
  /** Whose process did it last; null: nobody began it. */
  agent: string | null;
  failed_attempts: number;
  attempts: number;
  attempt_id: string | null;
  waiting_kind: WaitingKind | null;
  waiting_text: string | null;
  /** Accepted candidates in order; the settled one is in `state`, `summary`, `evidence`. */
  reported: ReportedOutcome[];
  /** How many reports were sent back for uncommitted or no changes. */
  reports_returned: number;
  /** How many "report now" messages this run has had. */
  nudges: number;
  cancel_requested_at: string | null;
  /** The last sign of an agent that has been silent for too long; null: it moves, or is not at it. */
  stalled_since: string | null;
  /** What it showed or said last before that. */
  stalled_line: string | null;
  summary: string;
  failure_code: string | null;
  evidence: Evidence | null;
  created_at: string;
  started_at: string | null;
  ended_at: string | null;
  updated_at: string;
}

export interface AttemptRow {
  attempt_id: string;
  session_id: string;
  worker_id: string;
  run_id: string;
  number: number;
  state: 'starting' | 'running' | 'ended' | 'lost';
  pid: number | null;
  pid_started_at: string | null;
  exit_status: number | null;
  started_at: string;
  ended_at: string | null;
}

export interface MessageRow {
  message_id: string;
  session_id: string;
  worker_id: string;
  run_id: string | null;
  /** `system`, `assistant`: no instruction; it goes with the next one after it. */
  kind: 'task' | 'follow_up' | 'notice' | 'nudge' | 'system' | 'assistant';
  sender: string;
  text: string;
  about: string | null;
  state: MessageState;
  /** Held, refused: why. Submitted: what proved it. Unconfirmed: the screen. */
  detail: string | null;
  evidence: Evidence;
  accepted_seq: number;
  accepted_at: string;
  queued_at: string | null;
  typed_at: string | null;
  submitted_at: string | null;
  started_at: string | null;
  answered_at: string | null;
  updated_at: string;
}

export interface VerificationRow {
  verify_id: string;
  session_id: string;
  commit: string;
  state: 'running' | 'passed' | 'failed';
  nothing_to_verify: boolean;
  commands: string[];
  results: CommandResult[];
  reason: string | null;
  started_at: string;
  ended_at: string | null;
}
