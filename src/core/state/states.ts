/** The states of DESIGN §2. Words on the wire and in the store are exactly these. */
export const SESSION_STATES = ['active', 'done', 'failed', 'paused', 'timeout'] as const;
export type SessionState = (typeof SESSION_STATES)[number];

export const WORKER_STATES = ['starting', 'idle', 'working', 'waiting', 'exited', 'lost'] as const;
export type WorkerState = (typeof WORKER_STATES)[number];

export const RUN_STATES = [
  'queued',
  'running',
  'waiting',
  'succeeded',
  'blocked',
  'failed',
  'timed_out',
  'cancelled',
  'interrupted',
] as const;
export type RunState = (typeof RUN_STATES)[number];

/** Who does a run: our pool with its agents, or somebody outside. */
export const EXECUTORS = ['pool', 'external'] as const;
export type Executor = (typeof EXECUTORS)[number];

export const TERMINAL_RUN_STATES = [
  'succeeded',
  'blocked',
  'failed',
  'timed_out',
  'cancelled',
  'interrupted',
] as const satisfies readonly RunState[];
export type TerminalRunState = (typeof TERMINAL_RUN_STATES)[number];

/** What a worker waits for. `report` = its turn ended without a report, a person or the lead must look. */
export const WAITING_KINDS = [
  'permission',
  'question',
  'login',
  'quota',
  'trust',
  'dialog',
  'report',
] as const;
export type WaitingKind = (typeof WAITING_KINDS)[number];

/** How a waiting worker was noticed: its own hook, what its screen shows, or its own tools. */
export const WAITING_VIA = ['hook', 'screen', 'tool'] as const;
export type WaitingVia = (typeof WAITING_VIA)[number];

/** What tells that an agent is at its work: its output, its own hooks and calls of our tools, CPU time of its processes. */
export const RUN_SIGNS = ['output', 'protocol', 'cpu'] as const;
export type RunSign = (typeof RUN_SIGNS)[number];

/** One answer that a dialog takes. */
export interface Choice {
  /** 1-based: the number it shows, else its place. */
  readonly number: number;
  readonly label: string;
}

export const MESSAGE_STATES = [
  'accepted',
  'queued',
  'held',
  'typed',
  'submitted',
  'started',
  'answered',
  'unconfirmed',
  'refused',
] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];

/** How we know a fact, strongest first (DESIGN §2). `operator`: somebody decided it, over the head of the agent. */
export const EVIDENCE = [
  'operator',
  'protocol',
  'transcript',
  'flag',
  'sentinel',
  'screen',
  'process',
  'silence',
] as const;
export type Evidence = (typeof EVIDENCE)[number];

export function isTerminalRun(state: RunState): state is TerminalRunState {
  return (TERMINAL_RUN_STATES as readonly RunState[]).includes(state);
}

export function isLiveWorker(state: WorkerState): boolean {
  return state !== 'exited' && state !== 'lost';
}

/** Its agent is a new process for each turn, so that between turns none is there to be alive or dead. */
export function isPerTurn(worker: { readonly backend: string }): boolean {
  return worker.backend === 'headless';
}

/**
 * An instruction can still reach it: its agent lives, or what it was given once can be taken up by a new process. A lead
 * that ended is the session's own affair.
 */
export function takesInstructions(worker: {
  readonly state: WorkerState;
  readonly role: 'lead' | 'worker';
  readonly attempt_id: string | null;
}): boolean {
  return isLiveWorker(worker.state) || (worker.role === 'worker' && worker.attempt_id !== null);
}

/** Smaller is stronger; used to settle candidates: strongest evidence first, then latest. */
export function evidenceRank(evidence: Evidence): number {
  return EVIDENCE.indexOf(evidence);
}

export type WorkerWord = TerminalWord | 'starting' | 'running' | 'waiting' | 'idle' | 'exited' | 'orphaned';
type TerminalWord = 'done' | 'blocked' | 'failed' | 'killed' | 'orphaned';

const WORD_OF_RUN: Record<TerminalRunState, TerminalWord> = {
  succeeded: 'done',
  blocked: 'blocked',
  failed: 'failed',
  timed_out: 'failed',
  cancelled: 'killed',
  interrupted: 'orphaned',
};

const WORD_OF_WORKER: Record<WorkerState, WorkerWord> = {
  starting: 'starting',
  idle: 'idle',
  working: 'running',
  waiting: 'waiting',
  exited: 'exited',
  lost: 'orphaned',
};

/** The failure code of a run whose agent process ended without any report. */
export const EXITED_WITHOUT_REPORT = 'AGENT_EXITED';

/**
 * The word that `list_workers`, waits and the heartbeat show: the last run's terminal state if it has one,
 * else the worker's own state (the one table of DESIGN §2). An agent that ended without a report shows as
 * `exited`, which says more than `failed`.
 */
export function workerWord(
  workerState: WorkerState,
  lastRun: { state: RunState; failure_code: string | null } | null,
): WorkerWord {
  if (lastRun === null || !isTerminalRun(lastRun.state)) return WORD_OF_WORKER[workerState];
  if (lastRun.state === 'failed' && lastRun.failure_code === EXITED_WITHOUT_REPORT) return 'exited';
  return WORD_OF_RUN[lastRun.state];
}
