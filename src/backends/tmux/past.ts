import { type Clock, within } from '../../core/clock.js';
import { isAlive, processRef } from '../../platform/process-tree.js';
import type { PastAgent } from '../contract.js';
import { readSavedText } from './earlier.js';
import { watchLaunch } from '../../platform/launch/launch-watch.js';
import { launchFiles, readExitFile, readPidFile, type LaunchFiles } from '../../platform/launch/launcher.js';
import { listPanes, type PaneRow } from './panes.js';
import { findSentinels } from '../../core/sentinels.js';
import { endProcesses } from '../../platform/launch/end-processes.js';
import { capturePane } from './text.js';
import type { ControlClient } from './types.js';

const TAIL_LINES = 20;
const SENTINEL_LINES = 2_000;
/** A launcher whose agent is gone writes the status at once; one that was killed never does. */
const STATUS_LIMIT_MS = 1_000;

/** See `Backend.lookBack`. */
export async function lookBack(
  place: { client: ControlClient; target: string; clock: Clock },
  attempt: { workerId: string; attemptId: string; directory: string },
): Promise<PastAgent> {
  const { client, clock } = place;
  const { workerId, attemptId } = attempt;
  const files = launchFiles(attempt.directory, workerId, attemptId);
  const process = await readPidFile(files.pid);
  const panes = await listPanes(client, place.target);
  const pane = panes.findLast((row) => row.workerId === workerId && row.attemptId === attemptId) ?? null;
  const launcher = pane === null || pane.dead ? null : processRef(pane.pid);
  const status = await statusOf(files, { pane, clock, lives: process !== null && isAlive(process) });
  const started = process !== null || status !== null || pane?.dead === true;
  // Without a terminal it goes on where nobody can see it; a launcher without an agent never becomes one.
  if (pane === null || launcher !== null || (process !== null && isAlive(process)))
    await endProcesses({ agent: process, launcher, attemptId }, { graceMs: started ? 1_000 : 0, clock });
  const lines =
    pane === null ? await savedLines(files) : await capturePane(client, pane.paneId, SENTINEL_LINES);
  return {
    started,
    end:
      status === null && pane === null
        ? { kind: 'lost', reason: 'its pane was closed while no supervisor was there' }
        : { kind: 'exited', status },
    outputTail: lines.slice(-TAIL_LINES).join('\n'),
    sentinels: findSentinels(lines).filter(({ nonce }) => nonce !== null),
  };
}

/** What its launcher wrote; else what tmux knows; null: it cannot be learned. */
async function statusOf(
  files: LaunchFiles,
  now: { pane: PaneRow | null; clock: Clock; lives: boolean },
): Promise<number | null> {
  const written = await readExitFile(files.exit);
  if (written !== null) return written;
  if (now.pane === null || now.pane.dead || now.lives) return now.pane?.deadStatus ?? null;
  const watch = watchLaunch(files, () => undefined);
  try {
    await watch.check();
    return await within(now.clock, STATUS_LIMIT_MS, watch.ended, null);
  } finally {
    watch.close();
  }
}

async function savedLines(files: LaunchFiles): Promise<readonly string[]> {
  return (await readSavedText(files.text, SENTINEL_LINES)).split('\n');
}
