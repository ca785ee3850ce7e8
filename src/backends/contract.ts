import type { HeadlessLaunch, InteractiveLaunch, StreamFormat } from '../agents/contract.js';
import type { ModelTurn } from '../llm/contract.js';
import type { Sentinel } from '../core/sentinels.js';
import type { Choice, Evidence, WaitingKind } from '../core/state/states.js';

/**
 * How agent processes of one session are driven. One instance per session and supervisor.
 * It knows no runs, receipts or database: it starts, reads, writes to and ends agents and says what it sees.
 */
export interface Backend {
  readonly name: 'tmux' | 'headless' | 'acp' | 'foreground';
  /**
   * Makes the place agents run in, or connects to the one that is there. Throws TMUX_MISSING, TMUX_FAILED.
   * `live` lists what runs there already, so that a new supervisor can adopt it.
   */
  open(): Promise<{ socket: string | null; live: readonly LiveAgent[] }>;
  /** Starts an agent. Resolves when its process exists (pid known). Throws SPAWN_FAILED; then nothing is left of it. */
  start(spec: StartSpec): Promise<StartedAgent>;
  /** Resolves when the agent takes input; throws AGENT_NOT_READY, AGENT_EXITED. A dialog in front is an event, not an error. */
  ready(workerId: string, signal?: AbortSignal): Promise<void>;
  /** Takes over an agent that `open` found alive. Throws SPAWN_FAILED when it ended since. */
  adopt(agent: LiveAgent, spec: StartSpec): Promise<StartedAgent>;
  /**
   * What became of an attempt of an earlier supervisor that `open` did not find alive. What it left running where
   * nobody can see or steer it any more is ended.
   */
  lookBack(attempt: { workerId: string; attemptId: string; directory: string }): Promise<PastAgent>;
  /**
   * Delivers one text to the agent as one submission (DESIGN §6). Calls for one worker run one after the other, in order.
   * Waits while something holds it (told through `observer.held`); gives up waiting when `signal` aborts — but once
   * the text is typed it is carried to an outcome. Never throws for what the pane does: the outcome says it.
   */
  send(workerId: string, text: string, options: SendOptions): Promise<Delivery>;
  /**
   * Answers the dialog that stands on the agent's screen and has this hash, and no other: keys go in one at a time,
   * each after the screen proved the one before, never beside a delivery. Another dialog, or none: `changed`, and no
   * choice was taken. Never throws for what the pane does. Throws UNKNOWN_WORKER.
   */
  answer(workerId: string, answer: DialogAnswer): Promise<Answered>;
  /** Last lines of the agent's output, newest last, no styles, wrapped lines joined. Works for ended agents until `clean`. */
  read(workerId: string, lines: number): Promise<string>;
  /** One interrupt key; the agent stays. */
  interrupt(workerId: string): Promise<void>;
  /** Ends the agent and everything it started: INT, TERM, then KILL of the whole tree, then a sweep by marker. */
  stop(workerId: string, options: { graceMs: number }): Promise<StopResult>;
  /** What the place shows of the worker (tmux: pane border). */
  label(workerId: string, text: string, more?: LabelMore): Promise<void>;
  /** One line for whoever looks at the session (tmux: status line). */
  status(text: string): Promise<void>;
  /**
   * Arranges what is there anew for a terminal of this size; agents run on and keep their ids. A place without sizes
   * changes nothing. Throws TMUX_FAILED, TMUX_LOST.
   */
  reflow(terminal: TerminalSize): Promise<Reflowed>;
  /** Calls whoever looks at the session (tmux: the bell of every attached terminal). */
  bell(): Promise<void>;
  /**
   * The session is over: shows the last line, and lets every viewer go who touches nothing for a while (tmux: detach);
   * `mayStay`: whoever touches a key reads on. Resolves when nobody is waited for. What becomes of the place from now on
   * is told to nobody.
   */
  releaseViewers(text: string, options: { mayStay: boolean }): Promise<void>;
  onEvent(listener: (event: BackendEvent) => void): () => void;
  /** Leaves; `destroy` ends the place with everything in it. */
  close(options: { destroy: boolean }): Promise<void>;
}

/** Where agents are a process per turn: their turns begin in `send`. */
export interface TurnBackend extends Backend {
  /**
   * A turn of an earlier supervisor: what it says is told from its beginning, then how it ended, as if it had been
   * started here, from `follow` on. null: its process never began, and nothing of it is left.
   */
  adoptTurn(spec: TurnSpec): Promise<AdoptedTurn | null>;
}

export interface AdoptedTurn {
  readonly started: StartedAgent;
  follow(): void;
}

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

export interface Reflowed {
  /** Agents side by side at most. */
  readonly perWindow: number;
  readonly windows: number;
  /** Where each agent is now. */
  readonly placed: readonly { readonly workerId: string; readonly window: string }[];
}

export interface LabelMore {
  /** ms since the epoch; shown as how long ago it is, and kept true by the place without being told again. */
  readonly since?: number;
  /** Stands at the end. */
  readonly note?: string;
}

/** What any process of an agent is started with. */
interface ProcessSpec {
  readonly workerId: string;
  readonly attemptId: string;
  readonly role: 'lead' | 'worker';
  readonly label: string;
  /** Working directory; must exist. The place is checked to be really there. */
  readonly cwd: string;
  /** Private folder of the worker (0700) for launch script, pid and exit files. */
  readonly directory: string;
  readonly argv: readonly string[];
  /** On top of what agents inherit; may hold tokens, never goes into argv. */
  readonly env: Readonly<Record<string, string>>;
}

/** An agent that stays for many turns. */
export interface StartSpec extends ProcessSpec {
  readonly launch: InteractiveLaunch;
}

/** A process for one turn: the text of the delivery is on its standard input. With `model`: that is asked instead. */
export interface TurnSpec extends ProcessSpec {
  readonly launch: HeadlessLaunch;
  readonly format: StreamFormat;
  readonly model?: ModelTurn;
}

export interface StartedAgent {
  readonly workerId: string;
  readonly paneId: string | null;
  readonly window: string | null;
  readonly pid: number;
  readonly pidStartedAt: string;
}

export interface LiveAgent extends StartedAgent {
  readonly attemptId: string;
}

export interface PastAgent {
  /** false: nothing ever ran. */
  readonly started: boolean;
  readonly end:
    | { readonly kind: 'exited'; readonly status: number | null }
    | { readonly kind: 'lost'; readonly reason: string };
  readonly outputTail: string;
  /** Those of its last words that name their run. */
  readonly sentinels: readonly Sentinel[];
}

export interface SendOptions {
  readonly observer: DeliveryObserver;
  /** Proof from outside (hook, transcript); whichever comes first wins. */
  readonly confirmation?: Promise<{ evidence: Evidence; how: string }>;
  readonly signal?: AbortSignal;
  /** The process that takes it, where the agent is one per turn; its attempt is recorded already. */
  readonly turn?: TurnStart;
  /** An earlier supervisor was at this text when it died. */
  readonly earlier?: EarlierDelivery;
}

export interface TurnStart {
  readonly spec: TurnSpec;
  /** The process exists, and the text is on its standard input; null: there is none. */
  began(started: StartedAgent | null): void;
}

export interface EarlierDelivery {
  /**
   * `typed`: it was typed; it is never typed again, only a proof is looked for, and the submit key pressed where the
   * composer still holds exactly this text. `perhaps`: it may stand in the composer; where it does not, it is delivered.
   */
  readonly state: 'typed' | 'perhaps';
  /** How often the agent took this very text before: so often it may be on the screen without being a proof. */
  readonly takenBefore: number;
}

export interface DeliveryObserver {
  held(reason: HeldReason): void;
  typed(bytes: number): void;
}

export type HeldReason = 'human_draft' | 'dialog' | 'copy_mode' | 'working' | 'not_ready' | 'unknown_screen';

export type Delivery =
  | { readonly outcome: 'submitted'; readonly evidence: Evidence; readonly how: string }
  | { readonly outcome: 'unconfirmed'; readonly screen: string }
  | { readonly outcome: 'refused'; readonly reason: string };

/** A dialog as it stands on a screen, with its answers. */
export interface DialogShown {
  readonly choices: readonly Choice[];
  /** Of its text and choices; the same whenever this very dialog is read. */
  readonly promptHash: string;
  /** The choice that follows from what the user agreed to in ours; null: there is none. */
  readonly consented: { readonly to: 'trust' | 'bypass'; readonly choice: Choice } | null;
}

export interface DialogAnswer {
  readonly promptHash: string;
  /** The number of the choice. */
  readonly choice: number;
}

export type Answered =
  /** That dialog is no longer on the screen. */
  | { readonly outcome: 'answered'; readonly evidence: Evidence }
  /** What is there instead; null: no dialog that can be answered. No choice was taken. */
  | { readonly outcome: 'changed'; readonly shown: (DialogShown & { readonly text: string }) | null }
  /** Keys were pressed, but the dialog is still there, or what is there cannot be told. */
  | { readonly outcome: 'unconfirmed'; readonly screen: string }
  /** No choice was taken. */
  | { readonly outcome: 'refused'; readonly reason: string };

export interface StopResult {
  /** true: no process of the agent is left (checked by pid, start time and marker). */
  readonly verified: boolean;
  readonly survivors: readonly number[];
}

/** What an agent says in its own protocol while a turn runs (headless: one line of its output may say several things). */
export type Said =
  /** The agent's own conversation id. */
  | { readonly said: 'thread'; readonly threadId: string }
  /** It has the prompt: the turn began. `proof`: how that is known where the agent has no word for it. */
  | {
      readonly said: 'prompt_taken';
      readonly proof?: { readonly evidence: Evidence; readonly how: string };
    }
  /** `delta`: a piece; else the whole of one block, said after its pieces. */
  | { readonly said: 'text' | 'reasoning'; readonly text: string; readonly delta: boolean }
  | { readonly said: 'tool_called'; readonly callId: string; readonly tool: string; readonly input: unknown }
  | {
      readonly said: 'tool_returned';
      readonly callId: string;
      readonly isError: boolean;
      readonly output: string;
    }
  /** Of what it did since it last said so; null where it does not say. */
  | {
      readonly said: 'usage';
      readonly inputTokens: number | null;
      readonly outputTokens: number | null;
      readonly costUsd: number | null;
    }
  /** Its own gate refused a tool, since nobody could be asked. */
  | { readonly said: 'denied'; readonly tool: string; readonly text: string }
  /** For the log: a retry, a warning. */
  | { readonly said: 'note'; readonly text: string }
  /**
   * The terminal word of the turn. Nothing else proves success. `goesOn`: something of it still runs in the background
   * and will wake the agent by itself; then it is the terminal word only if the process ends without another.
   */
  | { readonly said: 'turn_ended'; readonly text: string; readonly goesOn?: boolean }
  /** `kind`: what only a person can mend. */
  | { readonly said: 'turn_failed'; readonly text: string; readonly kind: WaitingKind | null };

export type BackendEvent =
  /** What the process of a turn says, in order. */
  | {
      readonly type: 'said';
      readonly workerId: string;
      readonly attemptId: string;
      readonly said: readonly Said[];
    }
  /** The process of a turn is gone, with everything that it started; all that it said was told before. */
  | {
      readonly type: 'turn_over';
      readonly workerId: string;
      readonly attemptId: string;
      readonly status: number | null;
      /** Its last words, mostly of its standard error. */
      readonly outputTail: string;
    }
  | {
      readonly type: 'state';
      readonly workerId: string;
      readonly state: 'idle' | 'working' | 'waiting' | 'error' | 'unknown';
      readonly kind: WaitingKind | null;
      /** For waiting and error: what the screen says; of a dialog the dialog alone. */
      readonly text: string;
      /** For waiting: how it can be answered; null where only a person in the pane can. */
      readonly dialog: DialogShown | null;
      readonly evidence: Evidence;
    }
  /** New full-line sentinels since the last send to this worker, oldest first. */
  | { readonly type: 'sentinels'; readonly workerId: string; readonly sentinels: readonly Sentinel[] }
  | {
      readonly type: 'exited';
      readonly workerId: string;
      readonly attemptId: string;
      readonly status: number | null;
      readonly outputTail: string;
    }
  | { readonly type: 'lost'; readonly workerId: string; readonly reason: string }
  | { readonly type: 'output'; readonly workerId: string }
  /** A person who looks wants the session paused, and confirmed it. */
  | { readonly type: 'pause_asked' }
  | { readonly type: 'place_lost'; readonly reason: string };
