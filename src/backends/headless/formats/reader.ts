import type { Said } from '../../contract.js';

/** Reads what one process writes, line by line. */
export interface StreamReader {
  /** What the mere start of the process says, where its output has no word for it. */
  readonly atStart?: readonly Said[];
  /** What a line says; nothing for one that is unknown, half, or no JSON. Never throws. */
  line(text: string): readonly Said[];
}
