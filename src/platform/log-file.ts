import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';

export interface LogLimits {
  /** A file that would grow beyond it is put aside; a longer line has a file to itself. */
  readonly bytes: number;
  /** How many of those are kept besides the one that is written. */
  readonly kept: number;
}

/** Longer than anybody takes to put files aside; who left this lock is dead. */
const STALE_LOCK_MS = 10_000;

/**
 * The files of a log (0600) that are there, newest first: `path`, then `path.1`, `path.2` … There may be gaps while
 * somebody puts one aside.
 */
export function logFilesOf(path: string): string[] {
  const name = basename(path);
  const numbers = readdirSync(dirname(path))
    .filter((one) => one.startsWith(`${name}.`) && /^\d+$/.test(one.slice(name.length + 1)))
    .map((one) => Number(one.slice(name.length + 1)))
    .toSorted((a, b) => a - b);
  return [path, ...numbers.map((number) => `${path}.${number}`)];
}

/**
 * Writes whole lines at once, so that none is lost when the process ends, and each is in one file. Several processes may
 * write the same log: each looks before it writes whether the file still has the name.
 */
export class LogFile {
  readonly #limits: LogLimits;
  #path: string;
  #file: { readonly fd: number; readonly inode: number } | null = null;

  constructor(path: string, limits: LogLimits) {
    this.#path = path;
    this.#limits = limits;
  }

  get path(): string {
    return this.#path;
  }

  /** `text` is one or more whole lines. A log that cannot be written (a full disk) ends nobody's work. */
  write(text: string): void {
    const bytes = Buffer.from(text);
    try {
      const fd = this.#fileFor(bytes.length);
      for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done);
    } catch {
      // There is nowhere to say it.
    }
  }

  /** Goes on under another name, behind what is there. */
  moveTo(path: string): void {
    const from = this.#path;
    if (from === path) return;
    this.close();
    this.#path = path;
    for (const file of logFilesOf(from).toReversed()) {
      if (existsSync(file)) this.write(readFileSync(file, 'utf8'));
      rmSync(file, { force: true });
    }
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file.fd);
    this.#file = null;
  }

  #fileFor(bytes: number): number {
    const named = statSync(this.#path, { throwIfNoEntry: false });
    // Somebody else has put it aside, or taken it away.
    if (this.#file !== null && named?.ino !== this.#file.inode) this.close();
    if (named !== undefined && named.size > 0 && named.size + bytes > this.#limits.bytes)
      this.#putAside(named.ino);
    this.#file ??= opened(this.#path);
    return this.#file.fd;
  }

  /** By one at a time; meanwhile the others go on where they are. */
  #putAside(inode: number): void {
    const path = this.#path;
    const lock = `${path}.lock`;
    if (!taken(lock)) return;
    try {
      if (statSync(path, { throwIfNoEntry: false })?.ino === inode) {
        for (let number = this.#limits.kept; number > 0; number--) {
          const from = number === 1 ? path : `${path}.${number - 1}`;
          if (existsSync(from)) renameSync(from, `${path}.${number}`);
        }
        if (this.#limits.kept === 0) rmSync(path);
      }
    } finally {
      rmSync(lock, { force: true });
    }
    this.close();
  }
}

function opened(path: string): { fd: number; inode: number } {
  const fd = openSync(path, 'a', 0o600);
  return { fd, inode: fstatSync(fd).ino };
}

function taken(lock: string): boolean {
  const held = statSync(lock, { throwIfNoEntry: false });
  if (held !== undefined && Date.now() - held.mtimeMs > STALE_LOCK_MS) rmSync(lock, { force: true });
  try {
    closeSync(openSync(lock, 'wx', 0o600));
    return true;
  } catch {
    return false;
  }
}
