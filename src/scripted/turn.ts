import type { Clock } from '../core/clock.js';
import type { Conversation } from './conversation.js';
import type { HookEvent } from './hooks.js';
import type { McpConnection } from './mcp.js';
import type { Script } from './script-schema.js';

/** How the program ends: at once, by itself or by a signal, or after saying goodbye. */
export type WayOut =
  { readonly exitCode: number } | { readonly signal: string } | { readonly gracefully: number };

/** What the steps of one turn work with. */
export interface Turn {
  readonly script: Script;
  readonly conversation: Conversation;
  readonly mcp: McpConnection;
  readonly clock: Clock;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pace: number;
  readonly screen: TurnScreen;
  /** Aborts when the person interrupts. */
  readonly signal: AbortSignal;
  hook(event: HookEvent): Promise<unknown>;
  /** Asks the hook address to decide; null when nobody there does. */
  askHook(request: { tool: string; message: string }): Promise<{ allowed: boolean; message: string } | null>;
  save(): Promise<void>;
  /** Ends the program. Never resolves. */
  leave(how: WayOut): Promise<never>;
  ignoreSignals(ignore: boolean): void;
}

export interface TurnScreen {
  say(text: string): void;
  print(text: string): void;
  note(text: string): void;
  /** A tool is called; what is returned takes the answer. */
  tool(name: string, input: unknown): (output: string, isError: boolean) => void;
  activity(text: string): void;
  /** What it thinks about, in words; null: without any. */
  think(about: string | null): void;
  freeze(): void;
  /** Shows the dialog; resolves with what was chosen. Aborting takes the dialog away. null: there is nowhere to show one. */
  readonly askPermission: ((text: string, signal: AbortSignal) => Promise<boolean>) | null;
  /** Nobody could be asked, so it may not. */
  denied(tool: string, text: string): void;
}
