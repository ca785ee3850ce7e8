import type { Said } from '../../contract.js';

/** Reads what one process writes, line by line. */
export interface StreamReader {
  /** What a line says; nothing for one that is unknown, half, or no JSON. Never throws. */
  line(text: string): readonly Said[];
}
