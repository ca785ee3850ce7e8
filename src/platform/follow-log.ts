import { open, stat, type FileHandle } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { within, type Clock } from '../core/clock.js';
import { logFilesOf } from './log-file.js';
import { lastLinesOf } from './tail.js';
import { watchDirectory } from './watch.js';

/** Where a folder cannot be watched, it is looked at so often. */
const LOOK_MS = 10_000;
const LOST_AFTER = 5;
const BLOCK_BYTES = 65_536;
const READ = { bytes: 16 * 1024 * 1024, lineBytes: 64 * 1024 } as const;

/** The last lines of a log, oldest first, also where they are in several of its files. `end`: of the one that is written. */
export async function lastLines(path: string, most: number, end = Infinity): Promise<string[]> {
  const lines: string[] = [];
  for (const file of logFilesOf(path))
    lines.unshift(...(await lastLinesOf(file, most - lines.length, file === path ? { ...READ, end } : READ)));
  return lines;
}

export interface FollowOptions {
  onLine(line: string): void;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/**
 * Gives the last lines of a log, then each that is written, once and in order, however often its files are put aside
 * meanwhile. Resolves when `signal` aborts.
 */
export async function followLog(path: string, most: number, options: FollowOptions): Promise<void> {
  const { clock, signal, onLine } = options;
  const reader = new LogReader(path, onLine);
  let wake: () => void = () => undefined;
  let isChanged = true;
  const change = () => {
    isChanged = true;
    wake();
  };
  const name = basename(path);
  const unwatch = watchDirectory(dirname(path), (one) => void (one.startsWith(name) && change()), change);
  signal.addEventListener('abort', change);
  try {
    await reader.start(most);
    while (!signal.aborted) {
      isChanged = false;
      await reader.read();
      const changed = new Promise<void>((resolve) => (wake = resolve));
      if (!isChanged && !signal.aborted) await within(clock, LOOK_MS, changed, undefined);
    }
  } finally {
    signal.removeEventListener('abort', change);
    unwatch();
    await reader.close();
  }
}

class LogReader {
  readonly #path: string;
  readonly #onLine: (line: string) => void;
  #file: FileHandle | null = null;
  #inode = 0;
  #offset = 0;
  #rest: Buffer = Buffer.alloc(0);

  constructor(path: string, onLine: (line: string) => void) {
    this.#path = path;
    this.#onLine = onLine;
  }

  /** Begins behind the last lines, which it gives. */
  async start(most: number): Promise<void> {
    for (;;) {
      await this.#take(await opened(this.#path));
      this.#offset = (await this.#file?.stat())?.size ?? 0;
      const lines = await lastLines(this.#path, most, this.#offset);
      // Put aside meanwhile: those lines may not end where we begin.
      if ((await inodeOf(this.#path)) !== (this.#file === null ? null : this.#inode)) continue;
      return lines.forEach(this.#onLine);
    }
  }

  async read(): Promise<void> {
    for (;;) {
      const next = await this.#next();
      // After it is known that there is another file: what was written to this one until then.
      await this.#readToEnd();
      if (next === null) return;
      const file = await opened(next.path);
      if ((await file?.stat())?.ino === next.inode) {
        this.#flush();
        await this.#take(file);
      } else await file?.close();
    }
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = null;
  }

  /**
   * The file that came after the one that is read; null: there is none yet. Looked for from the newest on, since names
   * only move the other way; one that is not found may have moved to a name that was not there.
   */
  async #next(): Promise<Named | null> {
    for (let tries = 1; ; tries++) {
      const there: Named[] = [];
      for (const path of logFilesOf(this.#path)) {
        const inode = await inodeOf(path);
        if (inode !== null) there.push({ path, inode });
      }
      const at = there.findIndex(({ inode }) => inode === this.#inode);
      if (at !== -1) return there[at - 1] ?? null;
      if (this.#file === null || tries === LOST_AFTER) return there.at(-1) ?? null;
    }
  }

  async #take(file: FileHandle | null): Promise<void> {
    await this.close();
    this.#file = file;
    this.#inode = (await file?.stat())?.ino ?? 0;
    this.#offset = 0;
  }

  async #readToEnd(): Promise<void> {
    const block = Buffer.allocUnsafe(BLOCK_BYTES);
    for (;;) {
      const { bytesRead } = (await this.#file?.read(block, 0, BLOCK_BYTES, this.#offset)) ?? { bytesRead: 0 };
      if (bytesRead === 0) return;
      this.#offset += bytesRead;
      const text = Buffer.concat([this.#rest, block.subarray(0, bytesRead)]);
      const end = text.lastIndexOf(10) + 1;
      this.#rest = text.subarray(end);
      if (end > 0)
        text
          .toString('utf8', 0, end - 1)
          .split('\n')
          .forEach(this.#onLine);
    }
  }

  #flush(): void {
    if (this.#rest.length > 0) this.#onLine(this.#rest.toString('utf8'));
    this.#rest = Buffer.alloc(0);
  }
}

interface Named {
  readonly path: string;
  readonly inode: number;
}

/** null: it is not there. */
function opened(path: string): Promise<FileHandle | null> {
  return open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
}

async function inodeOf(path: string): Promise<number | null> {
  return stat(path).then(
    ({ ino }) => ino,
    () => null,
  );
}
