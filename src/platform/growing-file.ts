import { open, type FileHandle } from 'node:fs/promises';

const BLOCK_BYTES = 65_536;
const NEW_LINE = 10;

/**
 * The lines of a file that somebody else is writing, each once and in order. Works on bytes, so no character is ever
 * cut; keeps none of a line in memory before it is whole, however long it is.
 */
export class GrowingFile {
  readonly #path: string;
  readonly #longestLine: number;
  #lineStart = 0;
  #scanned = 0;
  #reading: Promise<unknown> = Promise.resolve();

  /** A line longer than `longestLine` bytes is given as null. */
  constructor(path: string, longestLine: number) {
    this.#path = path;
    this.#longestLine = longestLine;
  }

  /** Gives what was written since the last call; `toEnd` gives a last line without its line end as well. */
  read(onLine: (line: string | null) => void, options: { toEnd: boolean } = { toEnd: false }): Promise<void> {
    const work = this.#reading.then(() => this.#read(onLine, options.toEnd));
    this.#reading = work.catch(() => undefined);
    return work;
  }

  async #read(onLine: (line: string | null) => void, toEnd: boolean): Promise<void> {
    const file = await open(this.#path, 'r').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    if (file === null) return;
    try {
      const block = Buffer.allocUnsafe(BLOCK_BYTES);
      for (;;) {
        const from = this.#scanned;
        const { bytesRead } = await file.read(block, 0, BLOCK_BYTES, from);
        if (bytesRead === 0) break;
        await this.#lines(file, block.subarray(0, bytesRead), onLine);
        this.#scanned = from + bytesRead;
      }
      if (toEnd && this.#scanned > this.#lineStart) await this.#give(file, this.#scanned, null, onLine);
    } finally {
      await file.close();
    }
  }

  async #lines(file: FileHandle, block: Buffer, onLine: (line: string | null) => void): Promise<void> {
    for (let at = block.indexOf(NEW_LINE); at !== -1; at = block.indexOf(NEW_LINE, at + 1)) {
      const within = this.#lineStart - this.#scanned;
      const whole = within >= 0 ? block.subarray(within, at) : null;
      await this.#give(file, this.#scanned + at, whole, onLine);
      this.#lineStart = this.#scanned + at + 1;
    }
  }

  async #give(
    file: FileHandle,
    end: number,
    whole: Buffer | null,
    onLine: (line: string | null) => void,
  ): Promise<void> {
    const length = end - this.#lineStart;
    if (length > this.#longestLine) onLine(null);
    else onLine((whole ?? (await readAll(file, this.#lineStart, length))).toString('utf8'));
    if (whole === null) this.#lineStart = end;
  }
}

async function readAll(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  for (let done = 0; done < length;) {
    const { bytesRead } = await file.read(buffer, done, length - done, position + done);
    if (bytesRead === 0) return buffer.subarray(0, done);
    done += bytesRead;
  }
  return buffer;
}
