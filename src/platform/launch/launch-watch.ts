import { basename, dirname } from 'node:path';
import type { ProcessRef } from '../process-tree.js';
import { watchDirectory } from '../watch.js';
import { readExitFile, readPidFile, type LaunchFiles } from './launcher.js';

export interface LaunchWatch {
  /** Resolves once the agent's process exists. */
  readonly started: Promise<ProcessRef>;
  /** Resolves with the exit status once the agent has ended. */
  readonly ended: Promise<number>;
  /** Looks at the files now: for what happened before the watch, and for where watching does not work. */
  check(): Promise<void>;
  close(): void;
}

/** Watches for what a launcher writes. Neither promise ever rejects; after `close` they may stay open. */
export function watchLaunch(files: LaunchFiles, onWarning: (problem: string) => void): LaunchWatch {
  let resolveStarted: (agent: ProcessRef) => void = () => undefined;
  let resolveEnded: (status: number) => void = () => undefined;
  const started = new Promise<ProcessRef>((resolve) => (resolveStarted = resolve));
  const ended = new Promise<number>((resolve) => (resolveEnded = resolve));
  let isKnown = false;
  const check = async () => {
    const agent = isKnown ? null : await readPidFile(files.pid);
    if (agent !== null) {
      isKnown = true;
      resolveStarted(agent);
    }
    const status = await readExitFile(files.exit);
    if (status !== null) resolveEnded(status);
  };
  const names = new Set([basename(files.pid), basename(files.exit)]);
  const unwatch = watchDirectory(
    dirname(files.exit),
    (name) => {
      if (names.has(name))
        check().catch((error: unknown) => onWarning(`cannot read ${name}: ${String(error)}`));
    },
    (error) => onWarning(`cannot watch ${dirname(files.exit)}: ${error.message}`),
  );
  return { started, ended, check, close: unwatch };
}
