import type { Exchange } from './conversation.js';

export interface Spoken {
  readonly thinking?: string;
  readonly text?: string;
  readonly calls?: readonly StepCall[];
  /** Waits before it answers, ms. */
  readonly delayMs?: number;
  /** Waits until this resolves; the test holds the turn open. */
  readonly until?: Promise<unknown>;
}

interface Failing {
  /** So often for the same request, then `afterwards`; always where it is absent. The one thing that is remembered. */
  readonly times?: number;
  readonly afterwards?: Spoken;
}

/** One answer of the model: words and calls, a failure of its API, or a stream that breaks off after its first words. */
export type Step =
  | Spoken
  | (Failing & {
      readonly fail: { readonly status: number; readonly message: string; readonly retryAfterS?: number };
    })
  | (Failing & { readonly drop: true });

export interface StepCall {
  /** A tool's name or the end of it: agents prefix the names of MCP tools each in their own way. */
  readonly tool: string;
  readonly input: Record<string, unknown>;
}

/** How the model behaves for the prompts it matches: one step per assistant turn; past the last it says "ok". */
export interface Rule {
  readonly name: string;
  readonly when: (exchange: Exchange) => boolean;
  readonly steps: readonly (Step | ((exchange: Exchange) => Step))[];
  /** In place of `steps`: the answer to this very request. */
  readonly play?: (exchange: Exchange) => Step;
}

/** Prompts that contain the text. */
export function says(text: string | RegExp): Rule['when'] {
  return ({ prompt }) => (typeof text === 'string' ? prompt.includes(text) : text.test(prompt));
}

export function resolveTool(name: string, offered: readonly string[]): string {
  return offered.find((tool) => tool === name) ?? offered.find((tool) => tool.endsWith(name)) ?? name;
}
