import { promptHash } from '../../platform/ids.js';
import type { Choice } from '../../core/state/states.js';

/** What a request takes as an answer when it comes through the agent's hook. */
export const REQUEST_CHOICES: readonly [Choice, Choice] = [
  { number: 1, label: 'Yes' },
  { number: 2, label: 'No' },
];

export interface ParkedRequest {
  readonly text: string;
  readonly promptHash: string;
}

interface Parked extends ParkedRequest {
  readonly settle: (answer: unknown) => void;
}

/**
 * Requests for permission that an agent asked through its hook: each hook call stays open until somebody answers it,
 * it was decided elsewhere, or the agent hangs up.
 */
export class ParkedRequests {
  readonly #parked: Parked[] = [];
  readonly #newId: () => string;

  constructor(newId: () => string) {
    this.#newId = newId;
  }

  /** The one that waits longest. */
  get first(): ParkedRequest | null {
    return this.#parked[0] ?? null;
  }

  /** Resolves with the body to give back to the agent. `onGone`: it hung up before there was one. */
  park(tool: string, text: string, hangUp: { signal: AbortSignal; onGone: () => void }): Promise<unknown> {
    return new Promise((resolve) => {
      const { signal, onGone } = hangUp;
      const leave = () => {
        if (this.#remove(parked)) onGone();
        resolve({});
      };
      const parked: Parked = {
        text,
        // Of this very request: the same may be asked again, and an answer is for one of them.
        promptHash: promptHash([tool, text, this.#newId()]),
        settle: (answer) => {
          signal.removeEventListener('abort', leave);
          resolve(answer);
        },
      };
      if (signal.aborted) return resolve({});
      signal.addEventListener('abort', leave, { once: true });
      this.#parked.push(parked);
    });
  }

  /** false when none of this hash waits (any more). */
  answer(hash: string, answer: unknown): boolean {
    const parked = this.#parked.find((candidate) => candidate.promptHash === hash);
    if (parked === undefined) return false;
    this.#remove(parked);
    parked.settle(answer);
    return true;
  }

  has(hash: string): boolean {
    return this.#parked.some((parked) => parked.promptHash === hash);
  }

  /** They were decided elsewhere: the agent needs nothing from us. */
  release(): void {
    for (const parked of this.#parked.splice(0)) parked.settle({});
  }

  /** The one that waits longest was decided elsewhere. */
  releaseFirst(): void {
    this.#parked.shift()?.settle({});
  }

  #remove(parked: Parked): boolean {
    const index = this.#parked.indexOf(parked);
    if (index === -1) return false;
    this.#parked.splice(index, 1);
    return true;
  }
}
