import type { Clock } from '../../core/clock.js';
import { removeEmptyFolder, setMode } from '../../platform/files.js';
import { goneWithin, isAlive, signalProcess, type ProcessRef } from '../../platform/process-tree.js';
import type { CheckRow, Mend } from './row.js';

export interface MendDeps {
  readonly clock: Clock;
  /** false, and nothing is done, where somebody listens on it or that cannot be told. */
  removeSocket(socket: string): Promise<boolean>;
  /** false, and nothing is done, where the daemon of the file lives. */
  removeDaemonFile(path: string): Promise<boolean>;
  /** false where a client is attached (nothing is done then), or where the server does not end. */
  endServer(socket: string): Promise<boolean>;
}

export interface Mended {
  readonly name: string;
  readonly found: string;
  /** What was tried, in words. */
  readonly fix: string;
  /** null: it was done. */
  readonly problem: string | null;
}

export interface Mendable {
  readonly row: CheckRow;
  readonly mend: Mend;
}

const END_LIMIT_MS = 5_000;

export function mendableOf(rows: readonly CheckRow[]): readonly Mendable[] {
  return rows.flatMap((row) => {
    if (row.fix === null || !('command' in row.fix) || row.fix.mend === undefined) return [];
    return [{ row, mend: row.fix.mend }];
  });
}

/** One after the other; what cannot be done says why and keeps nothing else. */
export async function mendAll(mendable: readonly Mendable[], deps: MendDeps): Promise<readonly Mended[]> {
  const all: Mended[] = [];
  for (const { row, mend } of mendable) {
    const problem = await run(mend, deps).catch((error: unknown) => (error as Error).message);
    all.push({ name: row.name, found: row.found, fix: mend.does, problem });
  }
  return all;
}

/** Why it could not be done; null: it was. */
async function run(mend: Mend, deps: MendDeps): Promise<string | null> {
  switch (mend.kind) {
    case 'dead socket':
      return (await deps.removeSocket(mend.socket)) ? null : 'a server listens on it now';
    case 'unwatched server':
      return (await deps.endServer(mend.socket)) ? null : 'somebody looks at it now, or it does not end';
    case 'process':
      return endProcess(mend.process, deps.clock);
    case 'empty folder':
      await removeEmptyFolder(mend.path);
      return null;
    case 'dead daemon':
      return (await deps.removeDaemonFile(mend.path)) ? null : 'a daemon lives there now';
    case 'mode':
      for (const path of mend.paths) await setMode(path, mend.mode);
      return null;
  }
}

async function endProcess(target: ProcessRef, clock: Clock): Promise<string | null> {
  if (!isAlive(target)) return null;
  signalProcess(target, 'SIGTERM');
  return (await goneWithin(target, END_LIMIT_MS, clock)) ? null : 'it runs on after SIGTERM';
}
