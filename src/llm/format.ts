import type { ModelMessage, ModelPlace } from './contract.js';

/** What one event of an answer says. */
export type Heard =
  | { readonly heard: 'text'; readonly text: string }
  | { readonly heard: 'usage'; readonly input: number | null; readonly output: number | null }
  /** Nothing more comes. */
  | { readonly heard: 'end' }
  /** It stopped before its answer was whole. */
  | { readonly heard: 'cut'; readonly why: string }
  | { readonly heard: 'error'; readonly message: string };

export interface WireFormat {
  body(place: ModelPlace, messages: readonly ModelMessage[]): unknown;
  /** `data` of one server-sent event. Throws what JSON.parse throws. */
  read(data: string): readonly Heard[];
}

export const numberOr = (value: unknown): number | null => (typeof value === 'number' ? value : null);
