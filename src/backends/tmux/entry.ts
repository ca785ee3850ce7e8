import type { ProcessRef } from '../../platform/process-tree.js';
import type { StartedAgent, StartSpec } from '../contract.js';
import type { LaunchWatch } from '../../platform/launch/launch-watch.js';
import type { LaunchFiles } from '../../platform/launch/launcher.js';
import type { PaneAgent } from './pane-agent.js';
import type { StopTarget } from '../../platform/launch/end-processes.js';

/** One agent that we started or took over. */
export interface Entry {
  readonly spec: StartSpec;
  readonly files: LaunchFiles;
  readonly paneId: string;
  readonly window: string;
  /** The pane's own process, which waits for the agent; null when it is gone. */
  readonly launcher: ProcessRef | null;
  readonly process: ProcessRef;
  readonly agent: PaneAgent;
  readonly watch: LaunchWatch;
  /** live → ending (its end is being told) → ended. */
  phase: 'live' | 'ending' | 'ended';
  /** Looks in a row that found the process gone and no exit status. */
  missed: number;
  /** Its last lines, once it has ended. */
  tail: string;
  /** The pane was given to another; its text is in `files.text`. */
  textSaved: boolean;
  /** Resolves when the end has been told. */
  readonly over: Promise<void>;
  readonly resolveOver: () => void;
}

export function createEntry(
  parts: Pick<Entry, 'spec' | 'files' | 'paneId' | 'window' | 'launcher' | 'process' | 'agent' | 'watch'>,
): Entry {
  let resolveOver: () => void = () => undefined;
  const over = new Promise<void>((resolve) => (resolveOver = resolve));
  return { ...parts, phase: 'live', missed: 0, tail: '', textSaved: false, over, resolveOver };
}

export function stopTargetOf(entry: Entry): StopTarget {
  return { agent: entry.process, launcher: entry.launcher, attemptId: entry.spec.attemptId };
}

export function startedAgent(entry: Entry): StartedAgent {
  const { pid, pidStartedAt } = entry.process;
  return { workerId: entry.spec.workerId, paneId: entry.paneId, window: entry.window, pid, pidStartedAt };
}
