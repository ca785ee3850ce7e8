import { closeSync, fdatasyncSync, fsyncSync, futimesSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { storeUnavailable } from './sqlite-errors.js';

export interface WalFile {
  /**
   * Tells the watchers of other processes that a commit is visible. SQLite's own write to the file comes a moment too
   * early for that: the new end of the log is published (in shared memory, which cannot be watched) only after it.
   */
  touch(nowMs: number): void;
  /**
   * Brings every commit so far to the disk, as `synchronous=FULL` would have; that cannot be switched on inside a
   * transaction, when it turns out that an event asks for it. Throws STORE_UNAVAILABLE.
   */
  sync(): void;
  close(): void;
}

/** The file exists from the first write on, and as long as a connection is open. Closing this drops no lock of SQLite's. */
export function openWalFile(path: string): WalFile {
  let file: number | null = null;
  let isFolderSynced = false;
  const handle = () => (file ??= openSync(`${path}-wal`, 'r'));
  return {
    touch(nowMs) {
      const seconds = nowMs / 1000;
      try {
        futimesSync(handle(), seconds, seconds);
      } catch {
        // The commit stands; watchers only learn of it later, at their next look.
      }
    },
    sync() {
      try {
        fdatasyncSync(handle());
        if (!isFolderSynced) syncFolder(dirname(path));
        isFolderSynced = true;
      } catch (error) {
        throw storeUnavailable(
          path,
          `it could not be synced to the disk: ${(error as Error).message}`,
          undefined,
          error,
        );
      }
    },
    close() {
      if (file !== null) closeSync(file);
      file = null;
    },
  };
}

/** The entry of a new file is part of what must survive a power cut. */
function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
