import { stripVTControlCharacters } from 'node:util';
import type { StreamReader } from './reader.js';

/**
 * Text for people, line by line. There is no protocol: that the process began with the prompt on its standard input is
 * all that is known of the beginning, and nothing but its exit of the end.
 */
export function plainText(): StreamReader {
  return {
    atStart: [
      {
        said: 'prompt_taken',
        proof: { evidence: 'process', how: 'its process began with the text on its standard input' },
      },
    ],
    line: (text) => [{ said: 'text', text: stripVTControlCharacters(text).trimEnd(), delta: false }],
  };
}
