import { spawn } from 'node:child_process';
import { processRef, type ProcessRef } from '../process-tree.js';

export interface Spawned {
  /** null: it ended at once. */
  readonly process: ProcessRef | null;
  /** Resolves when it has ended; never rejects. */
  readonly ended: Promise<void>;
}

/**
 * Starts a program that outlives this process: a session of its own, no terminal, nothing of ours open. It keeps this
 * process from ending no more than a stranger would. Rejects when it cannot be started.
 */
export function spawnApart(
  file: string,
  options: { readonly env: Readonly<Record<string, string | undefined>>; readonly cwd: string },
): Promise<Spawned> {
  const child = spawn(file, [], { ...options, detached: true, stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', () => {
      child.unref();
      resolve({ process: processRef(child.pid ?? 0), ended });
    });
  });
}
