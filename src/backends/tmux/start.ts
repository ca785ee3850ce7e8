import { delay, type Clock } from '../../core/clock.js';
import { OrchestratorError, toOrchestratorError } from '../../core/errors/error.js';
import { ensurePrivateDirectory, removeTree, writeFileAtomic } from '../../platform/files.js';
import type { Logger } from '../../platform/logger.js';
import type { ProcessRef } from '../../platform/process-tree.js';
import type { StartSpec } from '../contract.js';
import { createEntry, type Entry } from './entry.js';
import { watchLaunch, type LaunchWatch } from '../../platform/launch/launch-watch.js';
import {
  checkStartable,
  launchFiles,
  launchScript,
  type LaunchFiles,
} from '../../platform/launch/launcher.js';
import type { PaneAgent } from './pane-agent.js';
import { markPane } from './panes.js';
import type { MadePane } from './pane-maker.js';
import { endProcesses } from '../../platform/launch/end-processes.js';
import { capturePane } from './text.js';
import type { ControlClient } from './types.js';

export interface Launching {
  readonly client: ControlClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tmuxDirectory: string;
  makePane(script: string): Promise<MadePane>;
  unmakePane(made: MadePane): Promise<void>;
  /** Called as soon as the pane is known. */
  watchPane(paneId: string): PaneAgent;
  unwatchPane(paneId: string, agent: PaneAgent): void;
}

const START_LIMIT_MS = 10_000;

/** An agent must not find the server that it runs in, nor any other. */
const TMUX_OWN = ['TMUX', 'TMUX_PANE'];
const inPane = (spec: StartSpec, tmuxDirectory: string): StartSpec => ({
  ...spec,
  env: { ...spec.env, TMUX_TMPDIR: tmuxDirectory },
});

/** Starts one agent in a pane of its own. Throws SPAWN_FAILED; then its pane, processes and files are gone again. */
export async function launchAgent(launching: Launching, spec: StartSpec): Promise<Entry> {
  const { clock, client } = launching;
  const { realCwd } = await checkStartable(spec);
  const files = launchFiles(spec.directory, spec.workerId, spec.attemptId);
  await ensurePrivateDirectory(spec.directory);
  await writeFileAtomic(
    files.script,
    launchScript(inPane(spec, launching.tmuxDirectory), { files, realCwd, without: TMUX_OWN, stays: true }),
    0o700,
  );
  const watch = watchLaunch(files, (problem) =>
    launching.logger.warn({ workerId: spec.workerId, problem }, 'the agent cannot be watched'),
  );
  let made: MadePane | null = null;
  let agent: PaneAgent | null = null;
  try {
    made = await launching.makePane(files.script);
    agent = launching.watchPane(made.paneId);
    const process = await awaitStart({ watch, clock });
    await checkCurrentPath(client, made.paneId, realCwd);
    await markPane(client, made.paneId, { ...spec, process });
    const { paneId, window, launcher } = made;
    return createEntry({ spec, files, paneId, window, launcher, process, agent, watch });
  } catch (error) {
    const shown =
      made === null
        ? ''
        : await capturePane(client, made.paneId, 5).then(
            (lines) => lines.join(' | '),
            () => '',
          );
    await undo({ launching, spec, files, watch, made, agent });
    throw asSpawnFailed(spec, error, shown);
  }
}

async function awaitStart({ watch, clock }: { watch: LaunchWatch; clock: Clock }): Promise<ProcessRef> {
  const over = new AbortController();
  const limit = delay(clock, START_LIMIT_MS, over.signal).then(() => watch.check());
  const nothing = Promise.resolve(null);
  await Promise.race([watch.started, watch.ended, limit]);
  over.abort();
  const process = await Promise.race([watch.started, nothing]);
  if (process !== null) return process;
  const status = await Promise.race([watch.ended, nothing]);
  throw new Error(
    status === null
      ? `it did not start within ${START_LIMIT_MS} ms`
      : `its launcher ended with status ${status}`,
  );
}

/** An agent that works in another folder than its own would change somebody else's files, and report success. */
async function checkCurrentPath(client: ControlClient, paneId: string, expected: string): Promise<void> {
  const [line = ''] = await client.command(
    'display-message',
    '-p',
    '-t',
    paneId,
    '#{pane_dead} #{pane_current_path}',
  );
  const path = line.slice(2);
  // One that has ended already has no folder; its launcher was in the right one, or it would not have started.
  if (line.startsWith('1') || path === '' || path === expected) return;
  throw new Error(`it runs in ${path} instead of ${expected}`);
}

async function undo(failed: {
  launching: Launching;
  spec: StartSpec;
  files: LaunchFiles;
  watch: LaunchWatch;
  made: MadePane | null;
  agent: PaneAgent | null;
}): Promise<void> {
  const { launching, spec, files, watch, made, agent } = failed;
  watch.close();
  if (made !== null && agent !== null) launching.unwatchPane(made.paneId, agent);
  const target = { agent: null, launcher: null, attemptId: spec.attemptId };
  await endProcesses(target, { graceMs: 0, clock: launching.clock });
  if (made !== null) {
    await launching
      .unmakePane(made)
      .catch((error: unknown) => launching.logger.warn({ error: String(error) }, 'a pane was left'));
  }
  for (const file of [files.script, files.pid, files.exit]) await removeTree(file);
}

function asSpawnFailed(spec: StartSpec, thrown: unknown, shown: string): OrchestratorError {
  const error = toOrchestratorError(thrown);
  if (error.code === 'SPAWN_FAILED' || error.code === 'TMUX_LOST') return error;
  const problem = [thrown instanceof Error ? thrown.message : String(thrown), shown]
    .filter((part) => part !== '')
    .join(': ');
  return new OrchestratorError('SPAWN_FAILED', { worker: spec.workerId, problem }, { cause: thrown });
}
