import { withTexts } from '../../platform/redact.js';
import type { Said } from '../contract.js';

type Piece = Extract<Said, { said: 'text' | 'reasoning' }>;

/** A word that does not end is passed on all the same. */
const LONGEST_WORD = 65_536;

/**
 * What an agent says, without secrets. The pieces of what is being said are cut anew, between words: a secret comes in one
 * piece or not at all, so that `redact` sees it. The last word waits for the next piece, or for anything else that is said.
 */
export class WholeWords {
  readonly #redact: (text: string) => string;
  #held: Piece | null = null;

  constructor(redact: (text: string) => string) {
    this.#redact = redact;
  }

  take(said: readonly Said[]): readonly Said[] {
    return said.flatMap((one) =>
      isText(one) && one.delta ? this.#piece(one) : [...this.#rest(), withTexts(one, this.#redact) as Said],
    );
  }

  #piece(piece: Piece): Said[] {
    const before = this.#held?.said === piece.said ? [] : this.#rest();
    const text = `${this.#held?.text ?? ''}${piece.text}`;
    const end = text.length > LONGEST_WORD ? text.length : text.search(/\S*$/);
    this.#held = { ...piece, text: text.slice(end) };
    return [...before, ...this.#said({ ...piece, text: text.slice(0, end) })];
  }

  #rest(): Said[] {
    const held = this.#held;
    this.#held = null;
    return held === null ? [] : this.#said(held);
  }

  #said(piece: Piece): Said[] {
    return piece.text === '' ? [] : [{ ...piece, text: this.#redact(piece.text) }];
  }
}

function isText(one: Said): one is Piece {
  return one.said === 'text' || one.said === 'reasoning';
}
