import type { Launch } from '../../agents/contract.js';
import type { TurnBackend, TurnSpec } from '../../backends/contract.js';
import type { Clock } from '../../core/clock.js';
import type { EventData, EventName, EventSource, NewEvent } from '../../core/events/index.js';
import type { RunRow, WorkerRow } from '../../core/state/rows.js';
import type { Evidence, WaitingKind } from '../../core/state/states.js';
import type { Logger } from '../../platform/logger.js';
import type { Reader, Store } from '../../store/contract.js';
import type { Slots } from './slots.js';

/** What the run engine stands on. It knows workers, runs and receipts; no git, no session life. */
export interface EngineDeps {
  readonly sessionId: string;
  readonly store: Store;
  readonly backend: TurnBackend;
  readonly clock: Clock;
  readonly logger: Logger;
  newId(): string;
  /** How the agent of this worker is started where it runs; null: not at all by this version. */
  launch(worker: WorkerRow): Launch | null;
  /**
   * For a worker whose agent is a process per turn: makes what the process of an attempt is started with, its files
   * included. null: its agent stays.
   */
  turn(worker: WorkerRow): ((attemptId: string) => Promise<TurnSpec>) | null;
  /** Where turns get a place to run in; turns of agents that stay need none. */
  readonly slots: Slots;
  /** Absent: the agent of a worker never changes. */
  readonly agents?: AgentChoice;
  /** `report`: a run ends by what its agent reports. `turn`: the end of its turn is the end of the run. */
  outcomeBy(worker: WorkerRow): 'report' | 'turn';
  /** So long without a sign of a working agent is told; null: never. */
  readonly stallMs: number | null;
  /** A run whose agent stays silent for that long is ended, not only told of. Default: no. */
  readonly endsSilent?: boolean;
  /**
   * A run whose process went with the supervisor that began it is interrupted, unless it has retries left. Default: it
   * goes on in another attempt, which counts against none.
   */
  endsLost?(worker: WorkerRow): boolean;
  /** CPU time that a process and everything it started have used, ms; null: it is not known. */
  cpuTime(pid: number): Promise<number | null>;
  /** Private folder of a worker; its done.flag is watched. */
  workerDirectory(workerId: string): string;
  /** What the user agreed to before the session began, so that a dialog that only asks for it again may be answered. */
  consents(to: 'trust' | 'bypass'): boolean;
  /** Starts the agent of a worker whose process is over, in its conversation, for the run that is queued. */
  bringBack(worker: WorkerRow): void;
  /** Told when the lead ended its turn and nothing is left that could wake it. */
  onLeadStuck(): void;
  /** Told when an agent process is gone that nobody here ended, after its rows are settled. */
  onEnded(workerId: string, how: ProcessEnd): void;
}

/** Whom one worker may ask. Conversations have a list; everywhere else a worker is its agent. */
export interface AgentChoice {
  /** Each run begins with the first. */
  of(worker: WorkerRow): readonly string[];
  /** It lies with the agent itself (it is not there, not let in, has no room): another may do better. */
  isAtFault(failure: FaultOfAgent): boolean;
  /** It keeps no conversation of its own: with every turn it is sent all that was said. */
  isToldAll(worker: WorkerRow): boolean;
}

export interface FaultOfAgent {
  readonly code: string;
  readonly reason: string;
  /** What only a person can mend. */
  readonly kind?: WaitingKind | undefined;
}

/** `exited`: with its status, null where it could not be learned. `lost`: it cannot be reached any more, and why. */
export type ProcessEnd =
  | { readonly kind: 'exited'; readonly status: number | null }
  | { readonly kind: 'lost'; readonly reason: string };

export interface FactSubject {
  readonly session_id: string;
  readonly worker_id?: string;
  readonly run_id?: string;
  readonly source: EventSource;
  readonly evidence: Evidence;
}

/** A new event; the cast is the one place where name and data meet (the store validates both). */
export function fact<Name extends EventName>(
  type: Name,
  subject: FactSubject,
  data: EventData<Name>,
): NewEvent {
  return { type, data, ...subject } as NewEvent;
}

/** The run of a worker that is not over and has started or can; the oldest one first in line. */
export function openRun(reader: Reader, sessionId: string, workerId: string): RunRow | null {
  return reader.openRun(sessionId, workerId);
}

export function lastRun(reader: Reader, worker: WorkerRow): RunRow | null {
  return worker.last_run_id === null ? null : reader.run(worker.last_run_id);
}
