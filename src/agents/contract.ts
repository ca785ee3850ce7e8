import type { WaitingKind } from '../core/state/states.js';

/**
 * What we know of one agent CLI, as data. Functions appear only where a value depends on the launch (argv, env,
 * files) or reads a screen; none does I/O, looks at a clock or reads the environment.
 */
export interface AgentAdapter {
  /** What `--agents`, `--lead` and `agent_hint` accept. */
  readonly name: string;
  readonly displayName: string;
  /** Tried in order on PATH; an absolute path is taken as it is. */
  readonly binaries: readonly string[];
  readonly kind: 'sdk' | 'cli' | 'ide' | 'gh';
  /** 0–10; the lead is the best `orchestrate` with MCP. */
  readonly scores: { readonly orchestrate: number; readonly implement: number };
  readonly capabilities: { readonly parallel: boolean; readonly mcp: boolean };
  readonly versionArgs: readonly string[];
  /** The binary alone does not prove the agent: its output with these args must match. */
  readonly detectBy?: { readonly args: readonly string[]; readonly expect: RegExp };
  /** Environment variables that tell this agent it runs inside itself; removed from what agents inherit. */
  readonly guardVariables: readonly string[];
  /** Chosen only by name: never by detection, never as a fallback. */
  readonly onlyByName?: boolean;
  /** What `--agent-option name.key=value` may set; reaches `argv` and `env` as `extra`. */
  readonly options?: readonly AgentOption[];
  /** Names of its own that clients of the gateway read. */
  readonly gateway?: GatewayNames;
  /** What can be seen of its own set-up without starting it; absent: nothing. */
  readonly setUp?: SetUp;
  /** In a pane; null: it cannot be started there by this version. */
  readonly interactive: InteractiveLaunch | null;
  /** Without a terminal; null: it cannot be started so by this version. */
  readonly headless: HeadlessLaunch | null;
  /** It is no program: a model that is asked over HTTP. Such an agent can talk and do nothing else. */
  readonly model?: ModelAccess;
}

export interface ModelAccess {
  readonly format: 'messages' | 'chat';
  /** Without the path of the format. */
  readonly url: string;
  readonly urlVariable: string;
  readonly path: string;
  readonly keyVariable: string;
  headers(key: string): Readonly<Record<string, string>>;
}

export interface SetUp {
  /** A variable that is set, or a file that is there, is a login. None of them says nothing: it may be elsewhere. */
  readonly login: {
    readonly variables: readonly string[];
    files(env: AgentVariables): readonly string[];
    /** What a person types for it. */
    readonly command: string;
  };
  /** Files of its own that options name. */
  needs?(options: Readonly<Record<string, string>>, env: AgentVariables): readonly NeededFile[];
}

export type AgentVariables = Readonly<Record<string, string | undefined>>;

export interface NeededFile {
  /** What is called by that option. */
  readonly name: string;
  readonly path: string;
  /** Where it must not be (any more), and how it looks there. */
  readonly notIn: { readonly path: string; readonly looks: RegExp } | null;
}

export interface GatewayNames {
  /** Of `daemon status`: the block that says how this agent is started. */
  readonly status: string;
  /** Of `run diagnose`: the block that says how a run of it was started. */
  readonly invocation: string;
  readonly flags: readonly GatewayFlag[];
}

/** A flag of the daemon's own that sets an option of this agent. */
export interface GatewayFlag {
  readonly flag: string;
  readonly option: string;
  /** Of the environment; the flag wins. null: there is none. */
  readonly variable: string | null;
  /** It may be repeated; the option then has a value a line. */
  readonly many: boolean;
}

export interface AgentOption {
  readonly name: string;
  readonly summary: string;
  readonly required: boolean;
  /** The value is the path of an existing file. */
  readonly file: boolean;
}

export interface LaunchContext {
  readonly binary: string;
  readonly role: 'lead' | 'worker';
  /** Private folder of the worker (0700), outside every tree. Files of `files()` are written there, 0600. */
  readonly directory: string;
  readonly worktree: string;
  readonly mcpUrl: string;
  readonly hookUrl: string;
  /** Name of the environment variable that carries the bearer token; the launch script sets it. */
  readonly tokenVariable: string;
  readonly bypassPermissions: boolean;
  /** We run as root; some agents then refuse what they allow others. */
  readonly isRoot: boolean;
  /** sha256, in hex, of a value's JSON, its fields in the order they have. */
  hashOf(value: unknown): string;
  /** The agent's own conversation id to go on with, or null for a new one. */
  readonly resumeThreadId: string | null;
  readonly extra: Readonly<Record<string, string>>;
}

/** What every way to start an agent has. */
export interface Launch {
  argv(context: LaunchContext): readonly string[];
  env?(context: LaunchContext): Readonly<Record<string, string>>;
  files?(context: LaunchContext): readonly { readonly name: string; readonly content: string }[];
  /** How hook bodies of this agent translate; null: it has none, and the screen or its output must do. */
  readonly hooks: HookRules | null;
  /** How its transcript makes up for hooks that were missed; null: it cannot. */
  readonly transcript: TranscriptRules | null;
  /** The longest MCP call its client lets pass for sure, ms. */
  readonly mcpCallLimitMs: number;
  /**
   * What may be typed and reaches the model as it was; anything else is handed over as a file that the text names. null:
   * texts are not typed, and any reaches it.
   */
  readonly paste: PasteRules | null;
  /** Its words, on its output or screen, for a conversation id that it cannot go on with; null: it says none. */
  readonly resumeErrors: ResumeErrors | null;
}

export interface ResumeErrors {
  /** There is no such conversation (any more). */
  readonly unknown: RegExp | null;
  /** Another process is at it. */
  readonly inUse: RegExp | null;
}

/** One process per turn: the prompt is on its standard input, what it says is on its standard output. */
export interface HeadlessLaunch extends Launch {
  /** The wire format of its standard output; one reader per format, whatever agent speaks it. */
  format(context: LaunchContext): StreamFormat;
}

/** `plain`: text for people. It has no word for the end of a turn: only a report, a flag or a sentinel can say success. */
export const STREAM_FORMATS = ['stream-json', 'thread-jsonl', 'plain'] as const;
export type StreamFormat = (typeof STREAM_FORMATS)[number];

export interface InteractiveLaunch extends Launch {
  readonly readyTimeoutMs: number;
  readonly screen: ScreenRules;
  readonly keys: InputKeys;
  /** true: text typed while a turn runs is taken into that turn; false: we queue it. */
  readonly steers: boolean;
  /** It asks for our tools when it starts: what is sent to it before that would find it without them. */
  readonly toolsAtStart: boolean;
  /** Arguments, after all others, that make it begin with this text; absent: a text can only be typed. */
  firstPrompt?(text: string): readonly string[];
}

export interface InputKeys {
  /** tmux key names, each sent alone. */
  readonly submit: string;
  readonly interrupt: string;
  /** The longest we wait for a redraw after a paste before the submit key, ms. */
  readonly redrawCapMs: number;
  /** The shortest time between a paste and the submit key, ms (0 where the agent needs none). */
  readonly submitDelayMs: number;
}

export interface PasteRules {
  /** Larger texts are handed over as a file. */
  readonly limitBytes: number;
  /** Texts that the composer changes (tabs), or takes for a command of its own; null: there are none. */
  readonly unsafe: RegExp | null;
}

/** A pane as rows of text, without styles; `solid` tells what is typed from what is only suggested. */
export interface Screen {
  readonly rows: readonly string[];
  /** Per row: the text with every dim (SGR 2) character replaced by a space, same length. */
  readonly solid: readonly string[];
  readonly cursor: { readonly row: number; readonly column: number };
}

export interface Composer {
  /** What a person or we have typed and not submitted; '' when empty. Suggestions in dim text are not in it. */
  readonly text: string;
}

export interface ScreenRules {
  /** Version of the agent that the rules were recorded from. */
  readonly recordedVersion: string;
  /** First match wins; no match = unknown. Tested against the screen's last `tailRows` rows (blank rows at the bottom dropped first) joined by "\n". */
  readonly states: readonly ScreenRule[];
  readonly tailRows: number;
  /** The input box, or null while none is drawn. */
  composer(screen: Screen): Composer | null;
}

export interface ScreenRule {
  /** For an error: its group `text`, if it has one, is what is told of it. */
  readonly when: RegExp;
  readonly means: 'idle' | 'working' | 'waiting' | 'error';
  /** For waiting; for an error: what only a person can mend. */
  readonly kind?: WaitingKind;
  /** For waiting: how the dialog is answered by keys; without it only a person in the pane can. */
  readonly dialog?: DialogRules;
}

export interface DialogRules {
  /** What can be chosen, as it stands on the screen, in order; empty: cannot be told. */
  choices(screen: Screen): readonly DialogChoice[];
  /** `digit`: the choice's number alone, taken at once; `move`: Down/Up to it, then Enter, each proven before the next. */
  readonly by: 'digit' | 'move';
  /** The last row like this is above the dialog, which is no part of it; absent: the last line drawn across. */
  readonly above?: RegExp;
  /** The choice that follows from what the user agreed to in ours (trust in the project, bypass of permissions). */
  readonly consented?: { readonly to: 'trust' | 'bypass'; readonly choice: RegExp };
}

export interface DialogChoice {
  /** 1-based: the number it shows, else its place. */
  readonly number: number;
  readonly label: string;
  readonly selected: boolean;
}

export type HookFact =
  | { readonly fact: 'session_started'; readonly threadId: string }
  | { readonly fact: 'prompt_submitted'; readonly text: string }
  /** `goesOn`: something of the turn still runs in the background and will wake the agent by itself. */
  | { readonly fact: 'turn_ended'; readonly text: string; readonly goesOn?: boolean }
  /** `kind`: what only a person can mend; the agent waits for that. */
  | { readonly fact: 'turn_failed'; readonly text: string; readonly kind?: WaitingKind }
  | { readonly fact: 'waiting'; readonly kind: WaitingKind; readonly text: string }
  /** The agent asks through the hook itself, and takes its answer: `permissionAnswer`. */
  | { readonly fact: 'permission_requested'; readonly tool: string; readonly text: string }
  | { readonly fact: 'session_ended' };

export interface HookRules {
  /** true: a turn that failed is told by a hook; false: the screen has to tell. */
  readonly tellsFailures: boolean;
  /** Translates one hook body (parsed JSON) into facts; unknown bodies give none. Pure. */
  translate(body: unknown): readonly HookFact[];
  /** The conversation id in any hook body, or null. */
  threadId(body: unknown): string | null;
  /** The answer that makes the agent go on for one more turn instead of ending it; null where it cannot. */
  continueTurn(reason: string): unknown;
  /** The answer that decides a `permission_requested`; absent where the agent does not take one. */
  permissionAnswer?(allow: boolean, message: string): unknown;
  /** The file in which the agent keeps this conversation, from any hook body; absent where it does not say. */
  transcript?(body: unknown): string | null;
}

export interface TranscriptRules {
  /** What one line of the agent's transcript says, in the words of its hooks; lines that say nothing of it give none. */
  facts(line: string): readonly HookFact[];
}
