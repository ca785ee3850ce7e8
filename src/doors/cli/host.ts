import type { StoredEvent, FrozenCommand } from '../../core/events/index.js';
import type { SessionRow } from '../../core/state/rows.js';
import type { SessionPlanInput } from '../../services/supervise/plan.js';

/**
 * What the command line needs from the rest of the product; composed in main/. The door itself parses, asks and prints.
 * Everything here throws OrchestratorError.
 */
export interface CliHost {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly terminal: Terminal;
  newSessionId(): string;
  /** Agents on PATH, best first. `onlyByName` agents are in it only when `names` asks for them. */
  detectAgents(names: readonly string[] | null): Promise<readonly DetectedAgent[]>;
  /** All names that `--agents` and `--lead` know. */
  knownAgents(): readonly string[];
  listSessions(limit: number): Promise<readonly SessionListing[]>;
  /** What the project says about itself: trust, commands frozen from its files, git facts worth saying. */
  examineProject(project: string): Promise<ProjectExamination>;
  trustProject(project: string): Promise<void>;
  consentToCommands(project: string, commands: readonly FrozenCommand[]): Promise<void>;
  /** Starts the detached supervisor and waits until the session is ready. */
  startSession(plan: SessionPlanInput): Promise<StartedSession>;
  /** Full session id of a unique prefix. Throws SESSION_NOT_FOUND. */
  findSession(prefix: string): Promise<string>;
  /** Calls an operation: through the session's supervisor when one lives, else in-process under the session's lease. */
  call(sessionId: string, operation: string, input: unknown): Promise<unknown>;
  /** Stored events after `after`; live when `follow`, until the session is over or `signal` aborts. */
  events(sessionId: string, options: { after: number; follow: boolean; signal: AbortSignal }): AsyncIterable<StoredEvent>;
  /** Attaches this terminal to the session's tmux; resolves when the person detaches or the session lets it go. */
  attach(sessionId: string): Promise<void>;
  /** The command a person types to attach. */
  attachCommand(sessionId: string): Promise<string>;
  pause(sessionId: string, reason: string): Promise<void>;
}

export interface Terminal {
  readonly stdinIsTty: boolean;
  readonly stdoutIsTty: boolean;
  readonly stderrIsTty: boolean;
  readonly columns: number;
  readonly rows: number;
  out(text: string): void;
  err(text: string): void;
  /** One line of input; null at end of file. */
  ask(question: string): Promise<string | null>;
  /** Raw lines until `done` says so or the end of file. */
  readLines(done: (lines: readonly string[]) => boolean): Promise<string[]>;
  /** Aborts on the first INT or TERM. A second INT ends the process with 130. HUP leaves the session running. */
  readonly interrupted: AbortSignal;
}

export interface DetectedAgent {
  readonly name: string;
  readonly displayName: string;
  readonly kind: 'sdk' | 'cli' | 'ide' | 'gh';
  readonly binary: string;
  readonly version: string;
  readonly orchestrate: number;
  readonly implement: number;
  readonly parallel: boolean;
  readonly mcp: boolean;
  readonly launchable: boolean;
}

export interface SessionListing {
  readonly session: SessionRow;
  /** `active` with a dead owner is shown as crashed. */
  readonly shownState: string;
  readonly resumable: boolean;
  readonly workersTotal: number;
  readonly workersDone: number;
}

export interface ProjectExamination {
  readonly project: string;
  readonly trusted: boolean;
  readonly verifyCommands: readonly FrozenCommand[];
  readonly setupCommands: readonly FrozenCommand[];
  /** The commands come from project files and nobody consented to this very content yet. */
  readonly consentNeeded: boolean;
}

export interface StartedSession {
  readonly sessionId: string;
  readonly baseStatement: string;
  readonly directory: string;
  readonly notices: readonly string[];
}
