import { join } from 'node:path';
import { launchFiles, type LaunchFiles } from '../../platform/launch/launcher.js';

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
