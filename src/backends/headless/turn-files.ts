import { join } from 'node:path';
import { removeFile } from '../../platform/files.js';
import { launchFiles, type LaunchFiles } from '../../platform/launch/launcher.js';
import { rewriteLines } from '../../platform/rewrite-lines.js';
import { lastLinesOf } from '../../platform/tail.js';

export interface TurnFiles extends LaunchFiles {
  /** The text of the turn. */
  readonly input: string;
  /** What the process wrote: a file and no pipe, so that it goes on while nobody reads, and nothing of it is lost. */
  readonly output: string;
  readonly errors: string;
}

export function turnFiles(directory: string, workerId: string, attemptId: string): TurnFiles {
  const files = launchFiles(directory, workerId, attemptId);
  const base = join(directory, `${workerId}.${attemptId}`);
  return { ...files, input: `${base}.in`, output: `${base}.out`, errors: `${base}.err` };
}

/** What a worker said in all its turns, for people. */
export function logFile(directory: string, workerId: string): string {
  return join(directory, `${workerId}.log`);
}

/** The end of that; '' for a worker that has no such file. */
export async function lastSaid(directory: string, workerId: string, lines: number): Promise<string> {
  const limits = { bytes: 4_000_000, lineBytes: 65_536 };
  return (await lastLinesOf(logFile(directory, workerId), lines, limits)).join('\n');
}

/** Once a turn is over: its script held its token, and its output may hold whatever its agent saw. */
export async function keepWithoutSecrets(
  files: TurnFiles,
  redact: ((text: string) => string) | null,
): Promise<void> {
  await removeFile(files.script);
  if (redact === null) return;
  for (const file of [files.output, files.errors]) await rewriteLines(file, redact);
}
