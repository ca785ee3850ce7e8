import type { Clock } from '../core/clock.js';

/** Wire formats of models over HTTP; one file here for each. */
export const MODEL_FORMATS = ['messages', 'chat'] as const;
export type ModelFormat = (typeof MODEL_FORMATS)[number];

export interface ModelMessage {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

/** Where a model is asked, and how. `headers` hold the key: never in an address, a log or an event. */
export interface ModelPlace {
  readonly provider: string;
  readonly format: ModelFormat;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly model: string;
  /** Of one answer; null: as many as the model gives. */
  readonly maxTokens: number | null;
}

/** One turn of a conversation with a model. */
export interface ModelTurn {
  readonly place: ModelPlace;
  /** What was said before, oldest first. */
  readonly history: readonly ModelMessage[];
  /** The conversation's own id. */
  readonly threadId: string;
}

export interface ModelCall {
  readonly place: ModelPlace;
  /** Oldest first; the last one is what is asked. */
  readonly messages: readonly ModelMessage[];
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** It has the request and begins to answer. */
  onTaken(): void;
  onText(piece: string): void;
  /** It is asked again after so many ms, and why. */
  onWait(reason: string, ms: number): void;
}

export interface ModelAnswer {
  readonly text: string;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
}

/**
 * Asks a model once, and again while it has no room or is away and has said nothing. Resolves with a whole answer only.
 * Throws MODEL_LOGIN, MODEL_LIMITED, MODEL_REFUSED, MODEL_UNAVAILABLE, MODEL_BROKEN_OFF; what `signal` aborts with.
 */
export type AskModel = (call: ModelCall) => Promise<ModelAnswer>;
