const MARKS = ['2004', '\\033c'].map((mark) => Buffer.from(mark, 'latin1'));
const WORKER = Buffer.from('WORKER_');
/** DECSET/DECRST with any parameters, or a full reset; `%output` writes ESC as the four characters `\033`. */
const SWITCH = /\\033(?:\[\?([0-9;]+)([hl])|c)/g;
/** Longer than any sequence looked for, so that none is lost where two chunks meet. */
const TAIL_BYTES = 40;

const LINE_END = ['\\012', '\\015'].map((mark) => Buffer.from(mark, 'latin1'));

/** `begun`: the word that sentinels begin with was printed; `complete`: and a line end after it. */
export type SentinelHint = 'none' | 'begun' | 'complete';

/**
 * Reads the raw `%output` bytes of one pane for two things: whether its program has bracketed paste on, and whether
 * something like a sentinel may have been printed. Cheap on the hot path: two searches in bytes, text only on a hit.
 */
export class OutputScanner {
  /** null until the program said something. */
  bracketedPaste: boolean | null = null;
  private tail: Buffer = Buffer.alloc(0);
  private lineOpen = false;

  feed(data: Buffer): SentinelHint {
    const window = this.tail.length === 0 ? data : Buffer.concat([this.tail, data]);
    if (MARKS.some((mark) => window.includes(mark))) this.readSwitches(window.toString('latin1'));
    const hint = this.readSentinel(window);
    // A switch that lies wholly in the tail is read again: harmless, the last one wins.
    this.tail = Buffer.from(window.subarray(Math.max(0, window.length - TAIL_BYTES)));
    return hint;
  }

  /** Output was missed: the line that comes next may be the end of a sentinel. */
  skip(): SentinelHint {
    this.tail = Buffer.alloc(0);
    this.lineOpen = true;
    return 'begun';
  }

  private readSentinel(window: Buffer): SentinelHint {
    const fresh = Math.max(0, this.tail.length - WORKER.length + 1);
    const at = window.indexOf(WORKER, fresh);
    if (at === -1 && !this.lineOpen) return 'none';
    const last = at === -1 ? fresh : window.lastIndexOf(WORKER);
    this.lineOpen = !LINE_END.some((end) => window.indexOf(end, last) !== -1);
    if (!this.lineOpen) return 'complete';
    return at === -1 ? 'none' : 'begun';
  }

  private readSwitches(window: string): void {
    for (const match of window.matchAll(SWITCH)) {
      if (match[1] === undefined) this.bracketedPaste = false;
      else if (match[1].split(';').includes('2004')) this.bracketedPaste = match[2] === 'h';
    }
  }
}
