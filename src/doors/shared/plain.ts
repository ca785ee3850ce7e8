import { stripVTControlCharacters } from 'node:util';

/** Text of agents and files, safe to print: no escape sequences, no control bytes but tab and newline. */
export function plain(text: string): string {
  return stripVTControlCharacters(text).replace(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, '');
}
