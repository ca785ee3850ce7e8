import type { EphemeralEvent, EventName, EventOf, NewEvent, StoredEvent } from '../core/events/index.js';
import type { Rows, TableName } from '../core/state/projections.js';
import type {
  AttemptRow,
  MessageRow,
  RunRow,
  SessionRow,
  VerificationRow,
  WorkerRow,
} from '../core/state/rows.js';

/**
 * The event log and the rows folded from it, in one SQLite file that many processes share.
 * Every write is one `BEGIN IMMEDIATE` transaction; events and the rows they change commit together.
 */
export interface Store extends Reader {
  readonly path: string;
  /**
   * Runs `work` in one immediate transaction; what it appends is published after the commit, in order.
   * Throwing rolls everything back. Synchronous: no await inside. May be nested (joins the outer one).
   */
  transaction<T>(work: (tx: Transaction) => T): T;
  /** `transaction` with nothing but these events. */
  append(...events: NewEvent[]): StoredEvent[];
  /** Publishes an ephemeral event to this process's subscribers; it is never stored. Not inside a transaction. */
  publish(event: Omit<EphemeralEvent, 'seq' | 'at' | 'v'>): void;
  /**
   * Calls `listener` for every durable event with seq > `after`, exactly once and in order — first from the log, then
   * live, events committed by other processes included — and for ephemeral events of this process. Returns unsubscribe.
   * Events of the past come after this has returned; commits of this process before `append` or `transaction` returns,
   * unless the listener is behind (then soon after). Ephemeral events are dropped for one that is a page or more
   * behind. What a listener throws is logged and harms nobody else.
   */
  subscribe(after: number, listener: (event: StoredEvent | EphemeralEvent) => void): () => void;
  /** Takes the session's lease for this process. A lease whose holder is dead (pid, start time, boot id) is taken over. */
  acquireLease(
    sessionId: string,
    owner: LeaseOwner,
  ): { acquired: true } | { acquired: false; holder: LeaseOwner };
  releaseLease(sessionId: string, owner: LeaseOwner): void;
  /** Rebuilds every folded table from the log into memory and names the rows that differ ([] = equal). */
  verifyRebuild(): readonly string[];
  close(): void;
}

export interface Reader {
  /** seq of the newest event, 0 when there is none. */
  head(): number;
  /** In order; `types` tells the compiler as well what can come. */
  events<Name extends EventName = EventName>(query: EventQuery<Name>): EventOf<Name>[];
  session(sessionId: string): SessionRow | null;
  /** Newest update first. */
  sessions(limit: number): SessionRow[];
  /** Those of one kind, newest first; from the one after `before` on. */
  sessionPage(query: SessionQuery): SessionRow[];
  /** Sessions of one kind of which a run is not over, or a process not known to be, oldest first. */
  unfinishedSessions(kind: SessionRow['kind']): string[];
  /** How many runs are in each state; a state without a run is absent. */
  runCounts(): Partial<Record<RunRow['state'], number>>;
  /** Ids of sessions that start with `prefix`. */
  sessionIds(prefix: string): string[];
  worker(sessionId: string, workerId: string): WorkerRow | null;
  /** In order of creation. */
  workers(sessionId: string): WorkerRow[];
  run(runId: string): RunRow | null;
  /** In order of creation; of one worker when given. */
  runs(sessionId: string, workerId?: string): RunRow[];
  /** The oldest run that is not over; of one worker when given. Takes as long however many are over. */
  openRun(sessionId: string, workerId?: string): RunRow | null;
  attempts(sessionId: string): AttemptRow[];
  /** Those not known to be over, in any session, whose worker is in this conversation of this agent. */
  attemptsInThread(agent: string, threadId: string): AttemptRow[];
  message(messageId: string): MessageRow | null;
  /** To one worker, in order of acceptance. */
  messages(sessionId: string, workerId: string): MessageRow[];
  verification(verifyId: string): VerificationRow | null;
  verifications(sessionId: string): VerificationRow[];
  lease(sessionId: string): LeaseOwner | null;
  rows<Name extends TableName>(table: Name): Rows[Name][];
}

export interface Transaction extends Reader {
  /** Refuses (plain Error) a second terminal event for a run: look at its state in the same transaction first, as `endRun` does. */
  append(...events: NewEvent[]): StoredEvent[];
  /** The remembered answer of `key` in `scope`, or null. Throws IDEMPOTENCY_KEY_REUSED when the input hash differs. */
  recall(scope: string, key: string, inputHash: string): { result: unknown } | null;
  remember(scope: string, key: string, inputHash: string, result: unknown): void;
}

export interface EventQuery<Name extends EventName = EventName> {
  /** Only events with a greater seq. */
  readonly after: number;
  readonly sessionId?: string;
  /** Of any of these, at most 100: each is read by itself, however many events others have. */
  readonly sessionIds?: readonly string[];
  readonly workerId?: string;
  readonly runId?: string;
  readonly types?: readonly Name[];
  /** The oldest so many; absent: all of them. */
  readonly limit?: number;
}

export interface SessionQuery {
  readonly kind: SessionRow['kind'];
  readonly before?: Pick<SessionRow, 'created_at' | 'session_id'>;
  readonly limit: number;
}

export interface LeaseOwner {
  readonly pid: number;
  readonly pidStartedAt: string;
  readonly bootId: string;
}

/** A copy of a database as it was at one moment. */
export interface Backup {
  readonly path: string;
  /** seq of its newest event. */
  readonly head: number;
  readonly events: number;
  readonly schema: number;
}

/** A database as it is found, looked at through a copy: the file and its folder stay as they are. */
export interface DatabaseInspection {
  /** false: there is no file yet; the reader then finds no rows. */
  readonly exists: boolean;
  /** Schema of the file, and the one that this version brings it to when it next writes. */
  readonly schema: number;
  readonly newestSchema: number;
  /** What SQLite's own quick check has to say; [] = all is well. */
  readonly damage: readonly string[];
  readonly reader: Reader;
  /** Removes the copy. */
  close(): Promise<void>;
}
