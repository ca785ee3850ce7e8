import type { FrozenCommand, StoredEvent } from '../../core/events/index.js';
import type { Diagnosis } from '../../services/doctor/diagnose.js';
import type { Mendable, Mended } from '../../services/doctor/mend.js';
import type { SessionPlanInput } from '../../services/supervise/plan.js';
import type { SessionReport } from '../../services/supervise/session-report.js';
import type { Shell } from '../shared/completion/script.js';

/**
 * What the command line needs from the rest of the product; composed in main/. The door itself parses, asks and prints.
 * Everything here throws OrchestratorError.
 */
export interface CliHost {
  /** What it starts is removed again at once: nothing of it can be gone on with. */
  readonly isTemporary: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly terminal: Terminal;
  readonly version: string;
  newSessionId(): string;
  /** ms since the epoch. */
  now(): number;
  /** Every agent that `--agents` and `--lead` know, found here or not. */
  knownAgents(): readonly KnownAgent[];
  /** Agents on PATH, best first. Agents chosen only by name are in it only when `names` asks for them. */
  detectAgents(names: readonly string[] | null): Promise<readonly DetectedAgent[]>;
  detectSurroundings(): Promise<Surroundings>;
  /** Looks at everything that a session needs; changes nothing. */
  diagnose(): Promise<Diagnosis>;
  /** Does what `mendableOf` found in a diagnosis. */
  mend(mendable: readonly Mendable[]): Promise<readonly Mended[]>;
  /** Newest update first. */
  listSessions(limit: number): Promise<readonly SessionListing[]>;
  /** What the project says about itself: trust, commands frozen from its files, the base. Throws NOT_A_PROJECT, NO_COMMITS. */
  examineProject(
    project: string,
    options: {
      verify: readonly string[];
      /** Where `verify` comes from, in words: `--verify`. */
      verifySource: string;
      includeChanges: boolean;
    },
  ): Promise<ProjectExamination>;
  trustProject(project: string): Promise<void>;
  consentToCommands(project: string, commands: readonly FrozenCommand[]): Promise<void>;
  /** Starts the detached supervisor and waits until the session is ready. */
  startSession(plan: SessionPlanInput): Promise<StartedSession>;
  /** PATH leads to tmux. */
  hasTmux(): Promise<boolean>;
  /**
   * Runs a session from its beginning to its end in this very process, whose terminal its agent gets. `ready`: it has
   * begun. TERM and HUP pause it; Ctrl-C is the agent's, and pauses it when the agent has ended. Throws Interrupted before
   * anything began.
   */
  superviseHere(plan: SessionPlanInput, ready: () => void): Promise<void>;
  /** Where the work of a session's workers is, whatever came of it. */
  whereWorkIs(sessionId: string): Promise<readonly WorkPlace[]>;
  /**
   * Starts a supervisor for a session that has none, and waits until it has taken over. Throws SESSION_NOT_RESUMABLE,
   * SESSION_OWNED; then nothing is changed.
   */
  takeUpSession(order: {
    readonly sessionId: string;
    /** Size of the terminal that will attach; null: nobody is about to. */
    readonly terminal: { columns: number; rows: number } | null;
    /** Close the panes at the end; null: as was said when the session began. */
    readonly killTmux: boolean | null;
    /** What the person adds to the goal. */
    readonly addition: string | null;
  }): Promise<void>;
  /** Full session id of a unique prefix. Throws SESSION_NOT_FOUND, SESSION_AMBIGUOUS. */
  findSession(prefix: string): Promise<string>;
  /** Calls an operation: through the session's supervisor when one lives, else in-process under the session's lease. */
  call(
    sessionId: string,
    operation: { readonly name: string; readonly effect: 'read' | 'write' | 'destroy' },
    input: Record<string, unknown>,
  ): Promise<Record<string, unknown>>;
  /** `diskUse`: also what the session keeps on disk; that may take seconds. */
  report(sessionId: string, options?: { readonly diskUse: boolean }): Promise<SessionReport>;
  /**
   * Stored events after `after`; live when `follow`, until the session is over, nobody is left who could change it, or
   * `signal` aborts.
   */
  events(
    sessionId: string,
    options: { after: number; follow: boolean; signal: AbortSignal },
  ): AsyncIterable<StoredEvent>;
  /** Resolves when no supervisor owns the session any more; false when one still does after the limit. */
  settled(sessionId: string, limitMs: number): Promise<boolean>;
  /**
   * Attaches this terminal to the session's tmux; resolves when the person detaches or the session lets it go.
   * `first`: the window of the lead, whichever was looked at last.
   */
  attach(sessionId: string, options?: { first?: boolean }): Promise<{ readonly exitCode: number | null }>;
  /** The command a person types to see the panes; null when there are none (any more). */
  attachCommand(sessionId: string): Promise<string | null>;
  completionScript(shell: Shell): Promise<string>;
  /** A world of its own in a temporary folder: home, sample project, script. */
  prepareDemo(options: { pace: number | null }): Promise<Demo>;
}

export interface Terminal {
  readonly stdinIsTty: boolean;
  readonly stdoutIsTty: boolean;
  readonly stderrIsTty: boolean;
  readonly columns: number;
  readonly rows: number;
  /** Data; may be piped. */
  out(text: string): void;
  /** Everything for people. */
  err(text: string): void;
  /** One line of input; null at end of file. Throws Interrupted. */
  ask(question: string): Promise<string | null>;
  /** Raw lines until `done` says so or the end of file. Throws Interrupted. */
  readLines(done: (lines: readonly string[]) => boolean): Promise<string[]>;
  /** Each key as its bytes, unseen and without Enter, until what is returned is called; none without a terminal. */
  onKey(listener: (key: string) => void): () => void;
  /** The terminal has another size. */
  onResize(listener: () => void): () => void;
  /** Aborts on the first INT or TERM. A second INT ends the process with 130. HUP leaves the session running. */
  readonly interrupted: AbortSignal;
  /** From here on HUP is taken like TERM: for those that must not leave anything behind. */
  interruptOnHangUp(): void;
}

export interface KnownAgent {
  readonly name: string;
  readonly displayName: string;
  readonly mcp: boolean;
  /** As a worker, in a pane or without a terminal. */
  readonly launchable: boolean;
  /** In a pane, where a lead runs. */
  readonly launchableAsLead: boolean;
  /** On the terminal that the command line was called from. */
  readonly launchableInForeground: boolean;
  readonly onlyByName: boolean;
  readonly options: readonly {
    readonly name: string;
    readonly summary: string;
    readonly required: boolean;
    /** The value is the path of a file that must exist. */
    readonly file: boolean;
  }[];
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
  /** As a worker, in a pane or without a terminal. */
  readonly launchable: boolean;
  /** In a pane, where a lead runs. */
  readonly launchableAsLead: boolean;
  /** On the terminal that the command line was called from. */
  readonly launchableInForeground: boolean;
}

export interface Surroundings {
  /** LLM providers for planning and compression; never the key itself. */
  readonly providers: readonly {
    readonly name: string;
    readonly variable: string;
    readonly keyPresent: boolean;
  }[];
  readonly capabilities: readonly {
    readonly name: string;
    readonly present: boolean;
    readonly note: string;
  }[];
  readonly tools: readonly { readonly name: string; readonly version: string | null }[];
}

export interface SessionListing {
  readonly session_id: string;
  /** `active` with a dead owner is shown as crashed. */
  readonly state: string;
  readonly resumable: boolean;
  readonly cleaned_at: string | null;
  /** Work of it is kept under salvage refs. */
  readonly salvaged: boolean;
  readonly workers_total: number;
  readonly workers_done: number;
  readonly created_at: string;
  readonly updated_at: string;
  readonly project: string;
  readonly goal: string;
}

export interface ProjectExamination {
  /** Absolute. */
  readonly project: string;
  readonly trusted: boolean;
  readonly verifyCommands: readonly FrozenCommand[];
  readonly setupCommands: readonly FrozenCommand[];
  /** Commands of project files to which nobody has consented with this very content; [] = none. */
  readonly consentNeeded: readonly FrozenCommand[];
  readonly verifyGivenUnused: boolean;
  /** "base main@abc1234; …" as it is now, before any fetch. */
  readonly baseStatement: string;
  /** There are uncommitted files, and agents will not see them. */
  readonly leavesChangesOut: boolean;
}

export interface WorkPlace {
  readonly branch: string;
  /** null: it is removed. */
  readonly worktree: string | null;
  /** The project's own repository has the branch. */
  readonly mergeable: boolean;
}

export interface StartedSession {
  readonly sessionId: string;
  readonly baseStatement: string;
  readonly directory: string;
}

export interface Demo {
  readonly host: CliHost;
  readonly folder: string;
  readonly project: string;
  readonly goal: string;
  readonly agentOptions: readonly string[];
  /** Ends what the session left and removes the folder; `keep` only says where it is. */
  close(options: { sessionId: string | null; keep: boolean }): Promise<void>;
}
