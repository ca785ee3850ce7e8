import type { StreamFormat } from '../../../agents/contract.js';
import { plainText } from './plain.js';
import type { StreamReader } from './reader.js';
import { streamJson } from './stream-json.js';
import { threadJsonl } from './thread-jsonl.js';

/** Adding a wire format: one file and one line here. */
export const READERS: Readonly<Record<StreamFormat, () => StreamReader>> = {
  'stream-json': streamJson,
  'thread-jsonl': threadJsonl,
  plain: plainText,
};
