import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';

const BLOCK_BYTES = 65_536;
const NEW_LINE = 10;

export interface TailLimits {
  readonly bytes: number;
  readonly lineBytes: number;
  readonly end?: number;
}

/** The last of them, at most `most`, oldest first. */
export async function lastLinesOf(path: string, most: number, limits: TailLimits): Promise<string[]> {
  const lines: string[] = [];
  if (most <= 0) return lines;
  for await (const line of linesFromEnd(path, limits)) if (lines.unshift(line) >= most) break;
  return lines;
}

/**
 * The lines of a file from its last one backwards, empty ones left out; nothing for a file that is not there or is no
 * regular one. `end`: as if the file were no longer than that. Reads no more than it is asked for, `bytes` at most, and
 * gives none longer than `lineBytes`. The last line may still be being written.
 */
export async function* linesFromEnd(path: string, limits: TailLimits): AsyncGenerator<string> {
  // Without waiting: a pipe under this name would hold the reader for good.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  });
  if (file === null) return;
  try {
    const info = await file.stat();
    if (info.isFile()) yield* backwards(file, Math.min(info.size, limits.end ?? Infinity), limits);
  } finally {
    await file.close();
  }
}

async function* backwards(
  file: FileHandle,
  size: number,
  limits: { readonly bytes: number; readonly lineBytes: number },
): AsyncGenerator<string> {
  const least = Math.max(0, size - limits.bytes);
  const line = new Line(limits.lineBytes);
  for (let end = size; end > least;) {
    const start = Math.max(least, end - BLOCK_BYTES);
    const block = await read(file, start, end - start);
    let cut = block.length;
    for (let at = cut - 1; at >= 0; at--) {
      if (block[at] !== NEW_LINE) continue;
      line.before(block.subarray(at + 1, cut));
      const text = line.take();
      if (text !== '') yield text;
      cut = at;
    }
    line.before(block.subarray(0, cut));
    end = start;
  }
  const first = line.take();
  if (least === 0 && first !== '') yield first;
}

/** One line that grows at its beginning. */
class Line {
  readonly #mostBytes: number;
  #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  before(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes <= this.#mostBytes) this.#pieces.push(piece);
    else this.#pieces = [];
  }

  take(): string {
    const text =
      this.#bytes > this.#mostBytes ? '' : Buffer.concat(this.#pieces.toReversed()).toString('utf8');
    this.#pieces = [];
    this.#bytes = 0;
    return text;
  }
}

async function read(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await file.read(buffer, done, length - done, position + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return buffer.subarray(0, done);
}
