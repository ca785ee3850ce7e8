import { StringDecoder } from 'node:string_decoder';
import type { Clock } from '../../core/clock.js';

export type KeyName =
  | 'enter'
  | 'newline'
  | 'backspace'
  | 'delete'
  | 'left'
  | 'right'
  | 'up'
  | 'down'
  | 'home'
  | 'end'
  | 'escape'
  | 'ctrl-c'
  | 'ctrl-d'
  | 'ctrl-k'
  | 'ctrl-l'
  | 'ctrl-u'
  | 'ctrl-w';

export type Input =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'paste'; readonly text: string }
  | { readonly type: 'key'; readonly name: KeyName };

const PASTE_START = '\u001b[200~';
const PASTE_END = '\u001b[201~';
/** A lone ESC is the key when nothing follows within this time; else it begins a sequence. */
const ESCAPE_WAIT_MS = 40;

const CONTROL: Readonly<Record<string, KeyName>> = {
  '\r': 'enter',
  '\n': 'newline',
  '\u007f': 'backspace',
  '\b': 'backspace',
  '\u0001': 'home',
  '\u0002': 'left',
  '\u0003': 'ctrl-c',
  '\u0004': 'ctrl-d',
  '\u0005': 'end',
  '\u0006': 'right',
  '\u000b': 'ctrl-k',
  '\u000c': 'ctrl-l',
  '\u000e': 'down',
  '\u0010': 'up',
  '\u0015': 'ctrl-u',
  '\u0017': 'ctrl-w',
};

const SEQUENCE: Readonly<Record<string, KeyName>> = {
  '[A': 'up',
  '[B': 'down',
  '[C': 'right',
  '[D': 'left',
  '[H': 'home',
  '[F': 'end',
  '[1~': 'home',
  '[4~': 'end',
  '[3~': 'delete',
  OA: 'up',
  OB: 'down',
  OC: 'right',
  OD: 'left',
  OH: 'home',
  OF: 'end',
  '\r': 'newline',
  '\n': 'newline',
};

/** Turns the bytes of a raw terminal into keys, typed text and whole pastes. `flush` ends a pending lone ESC. */
export function createKeyParser(clock: Clock, emit: (input: Input) => void): (chunk: Buffer) => void {
  const decoder = new StringDecoder('utf8');
  let pending = '';
  let cancelEscape = () => {};

  return (chunk) => {
    cancelEscape();
    pending += decoder.write(chunk);
    for (let taken = takeOne(pending, emit); taken > 0 && pending !== ''; taken = takeOne(pending, emit))
      pending = pending.slice(taken);
    if (pending.startsWith('\u001b') && !pending.startsWith(PASTE_START)) {
      cancelEscape = clock.after(ESCAPE_WAIT_MS, () => {
        const rest = pending.slice(1);
        pending = '';
        emit({ type: 'key', name: 'escape' });
        if (rest !== '') emit({ type: 'text', text: rest });
      });
    }
  };
}

/** Emits the first input of `buffer` and says how long it was; 0 = more is needed. */
function takeOne(buffer: string, emit: (input: Input) => void): number {
  if (buffer === '') return 0;
  if (buffer.startsWith(PASTE_START)) return takePaste(buffer, emit);
  if (buffer.startsWith('\u001b')) return takeSequence(buffer, emit);
  const control = CONTROL[buffer[0] ?? ''];
  if (control !== undefined) {
    emit({ type: 'key', name: control });
    return 1;
  }
  if (buffer.charCodeAt(0) < 32) return 1;
  // oxlint-disable-next-line no-control-regex
  const text = /^[^\u0000-\u001f\u007f]+/.exec(buffer)?.[0] ?? buffer[0] ?? '';
  emit({ type: 'text', text });
  return text.length;
}

function takePaste(buffer: string, emit: (input: Input) => void): number {
  const end = buffer.indexOf(PASTE_END, PASTE_START.length);
  if (end === -1) return 0;
  const text = buffer.slice(PASTE_START.length, end);
  // Some terminals send a pasted line end as CR; a text with real line feeds is left as it is.
  emit({ type: 'paste', text: text.includes('\n') ? text : text.replaceAll('\r', '\n') });
  return end + PASTE_END.length;
}

function takeSequence(buffer: string, emit: (input: Input) => void): number {
  // oxlint-disable-next-line no-control-regex
  const match = /^\u001b(\[[0-9;?<>=]*[@-~]|O[A-Za-z]|[\r\n])/.exec(buffer);
  if (match === null) return 0;
  const name = SEQUENCE[match[1] ?? ''];
  if (name !== undefined) emit({ type: 'key', name });
  return match[0].length;
}
