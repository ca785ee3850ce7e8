import { OrchestratorError } from '../../core/errors/error.js';
import type { Logger } from '../../platform/logger.js';
import { processRef } from '../../platform/process-tree.js';
import type { LiveAgent, StartSpec } from '../contract.js';
import { createEntry, type Entry } from './entry.js';
import { watchLaunch } from '../../platform/launch/launch-watch.js';
import { launchFiles } from '../../platform/launch/launcher.js';
import type { PaneAgent } from './pane-agent.js';
import { findPane } from './panes.js';
import type { ControlClient } from './types.js';

export interface TakingOver {
  readonly client: ControlClient;
  readonly logger: Logger;
  watchPane(paneId: string): PaneAgent;
}

/** An agent that an earlier supervisor started. Throws SPAWN_FAILED when it is not in its pane any more. */
export async function takeOver(options: TakingOver, live: LiveAgent, spec: StartSpec): Promise<Entry> {
  const { workerId, attemptId, directory } = spec;
  const pane = live.paneId === null ? null : await findPane(options.client, live.paneId);
  if (pane === null || pane.attemptId !== live.attemptId || attemptId !== live.attemptId) {
    const problem = `attempt ${live.attemptId} is not in pane ${live.paneId} any more`;
    throw new OrchestratorError('SPAWN_FAILED', { worker: workerId, problem });
  }
  const files = launchFiles(directory, workerId, attemptId);
  const watch = watchLaunch(files, (problem) =>
    options.logger.warn({ workerId, problem }, 'the agent cannot be watched'),
  );
  const { pid, pidStartedAt } = live;
  const { paneId } = pane;
  const known = { paneId, window: live.window ?? '', launcher: processRef(pane.pid) };
  const agent = options.watchPane(paneId);
  return createEntry({ ...known, process: { pid, pidStartedAt }, spec, files, watch, agent });
}
