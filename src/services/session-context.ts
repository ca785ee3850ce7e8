import type { AgentAdapter } from '../agents/contract.js';
import type { TurnBackend } from '../backends/contract.js';
import type { Clock } from '../core/clock.js';
import { OrchestratorError } from '../core/errors/error.js';
import type { SessionRow, WorkerRow } from '../core/state/rows.js';
import type { Git } from '../git/contract.js';
import type { Logger } from '../platform/logger.js';
import type { Store } from '../store/contract.js';
import type { Engine } from './engine/engine.js';
import type { SessionPlaces } from './places.js';
import type { SessionPlan } from './supervise/plan.js';
import type { ToolsSeen } from './supervise/tools-seen.js';
import type { VerifyJobs } from './supervise/verify-jobs.js';

/** What every use case of one session gets. `live` is there only in the supervisor that owns the session. */
export interface SessionContext {
  readonly sessionId: string;
  readonly store: Store;
  readonly git: Git;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly places: SessionPlaces;
  readonly live: LiveSession | null;
  /** What a session without supervisor left in its terminal; absent where a supervisor has it in hand. */
  readonly leftPanes?: LeftPanes;
  redact(text: string): string;
  newId(): string;
}

export interface LeftPanes {
  /** Whether the session's private tmux server is there; false also when there never was one. */
  areThere(): Promise<boolean>;
  /** Ends it with all its panes; false when it does not answer. */
  end(): Promise<boolean>;
  /** The last lines of what a worker without a terminal said; '' for one that had a terminal. */
  said(workerId: string, lines: number): Promise<string>;
}

export interface LiveSession {
  readonly plan: SessionPlan;
  readonly backend: TurnBackend;
  readonly engine: Engine;
  readonly verifyJobs: VerifyJobs;
  readonly toolsSeen: ToolsSeen;
  /** Adapter of an agent of this session, with the binary that was found. Throws UNKNOWN_AGENT, AGENT_NOT_LAUNCHABLE. */
  agent(name: string): { adapter: AgentAdapter; binary: string };
  /** Spawns whose worktree, set-up or process is still being made; resolves with the pane. */
  readonly launching: Map<string, Promise<string | null>>;
  /** Serialises everything that moves the integration branch. */
  integrating<T>(work: () => Promise<T>): Promise<T>;
  /** Aborted when its agents are being ended: from then on none of them is answered. */
  readonly ending: AbortController;
  /** Ends the session once the current answers are out. */
  finish(): void;
  /** Asks the supervisor to pause the session. */
  pause(reason: string): void;
  /** Asks the supervisor to end the session as failed. */
  stop(reason: string): void;
  /** The environment that setup and verify commands get. */
  readonly commandEnvironment: Readonly<Record<string, string>>;
  /** This machine's administrator runs the session; some agents treat that apart. */
  readonly isRoot: boolean;
  /** Token, URLs and git settings for one worker's process. */
  agentAccess(workerId: string): AgentAccess;
}

export interface AgentAccess {
  readonly mcpUrl: string;
  readonly hookUrl: string;
  readonly tokenVariable: string;
  readonly env: Readonly<Record<string, string>>;
}

export function requireLive(session: SessionContext): LiveSession {
  if (session.live === null)
    throw new OrchestratorError('SUPERVISOR_NOT_RUNNING', { session: session.sessionId });
  return session.live;
}

export function sessionRow(session: SessionContext): SessionRow {
  const row = session.store.session(session.sessionId);
  if (row === null) throw new OrchestratorError('SESSION_NOT_FOUND', { session: session.sessionId });
  return row;
}

/** Throws UNKNOWN_WORKER with the known ids. */
export function findWorker(session: SessionContext, workerId: string): WorkerRow {
  const worker = session.store.worker(session.sessionId, workerId);
  if (worker !== null) return worker;
  const valid = session.store
    .workers(session.sessionId)
    .filter((known) => known.role === 'worker')
    .map((known) => known.worker_id);
  throw new OrchestratorError('UNKNOWN_WORKER', { worker: workerId, valid });
}

/** Throws SESSION_ENDED unless work may still be asked for. */
export function requireOpen(session: SessionContext): SessionRow {
  const row = sessionRow(session);
  if (row.state !== 'active' || row.verdict !== null)
    throw new OrchestratorError('SESSION_ENDED', {
      session: row.session_id,
      state: row.verdict ?? row.state,
    });
  return row;
}
