/**
 * What a control-mode stream says, in order. `data` is a view of the bytes as they came, with tmux's `\ooo` escapes;
 * a character or an escape sequence may be cut between two of them.
 */
export interface ControlSink {
  /** `own` is false for the block of the command that the client was started with. */
  answer(answer: { readonly ok: boolean; readonly own: boolean; readonly lines: readonly string[] }): void;
  output(paneId: string, data: Buffer): void;
  /** Without the leading `%`. */
  notification(line: string): void;
  exit(reason: string): void;
}

const NEWLINE = 0x0a;
const PERCENT = 0x25;
const OUTPUT = Buffer.from('%output ');
const EXTENDED_OUTPUT = Buffer.from('%extended-output ');
const VALUE_MARK = Buffer.from(' : ');

/**
 * Splits the byte stream of `tmux -C` into answers, output and notifications. Bytes are never decoded before a line is
 * whole: a chunk may end inside a character. Lines inside an answer may look like notifications (they are whatever a
 * pane showed), so only the end mark with the very time and number of the begin mark closes an answer.
 */
export function createControlParser(sink: ControlSink): (chunk: Buffer) => void {
  let pieces: Buffer[] = [];
  let block: { readonly mark: string; readonly lines: string[] } | null = null;

  const takeLine = (line: Buffer) => {
    if (block !== null) {
      const end = line[0] === PERCENT ? endOfBlock(line, block.mark) : null;
      if (end === null) {
        block.lines.push(line.toString('utf8'));
        return;
      }
      const { mark, lines } = block;
      block = null;
      sink.answer({ ok: end === 'end', own: mark.endsWith(' 1'), lines });
      return;
    }
    if (startsWith(line, OUTPUT)) return takeOutput(line, OUTPUT.length, sink);
    if (startsWith(line, EXTENDED_OUTPUT)) return takeOutput(line, EXTENDED_OUTPUT.length, sink);
    if (line[0] !== PERCENT) return;
    const text = line.toString('utf8', 1);
    if (text.startsWith('begin ')) block = { mark: text.slice('begin '.length), lines: [] };
    else if (text === 'exit' || text.startsWith('exit ')) sink.exit(text.slice('exit '.length));
    else sink.notification(text);
  };

  return (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const tail = chunk.subarray(start, end);
      start = end + 1;
      if (pieces.length === 0) takeLine(tail);
      else {
        const line = Buffer.concat([...pieces, tail]);
        pieces = [];
        takeLine(line);
      }
    }
    if (start < chunk.length) pieces.push(chunk.subarray(start));
  };
}

function endOfBlock(line: Buffer, mark: string): 'end' | 'error' | null {
  if (line.length > mark.length + 8) return null;
  const text = line.toString('latin1');
  if (text === `%end ${mark}`) return 'end';
  return text === `%error ${mark}` ? 'error' : null;
}

/** `%output %3 DATA`, or `%extended-output %3 AGE … : DATA` once pause-after is on. */
function takeOutput(line: Buffer, from: number, sink: ControlSink): void {
  const idEnd = line.indexOf(0x20, from);
  if (idEnd === -1) return;
  const paneId = line.toString('latin1', from, idEnd);
  if (from === OUTPUT.length) return sink.output(paneId, line.subarray(idEnd + 1));
  const mark = line.indexOf(VALUE_MARK, idEnd);
  if (mark !== -1) sink.output(paneId, line.subarray(mark + VALUE_MARK.length));
}

function startsWith(line: Buffer, prefix: Buffer): boolean {
  return line.length >= prefix.length && line.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;
}

/** The bytes a pane printed: undoes the `\ooo` escapes of `%output` data. */
export function unescapeOutput(data: Buffer): Buffer {
  let from = data.indexOf(0x5c);
  if (from === -1) return data;
  const result = Buffer.allocUnsafe(data.length);
  let length = data.copy(result, 0, 0, from);
  while (from < data.length) {
    const byte = data[from] as number;
    if (byte === 0x5c && isOctal(data, from + 1)) {
      result[length++] = Number.parseInt(data.toString('latin1', from + 1, from + 4), 8);
      from += 4;
    } else {
      result[length++] = byte;
      from += 1;
    }
  }
  return result.subarray(0, length);
}

function isOctal(data: Buffer, from: number): boolean {
  for (let index = from; index < from + 3; index++) {
    const byte = data[index] ?? 0;
    if (byte < 0x30 || byte > 0x37) return false;
  }
  return true;
}
