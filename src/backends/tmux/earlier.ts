import { join } from 'node:path';
import { ensurePrivateDirectory, readTextFile, writeFileAtomic } from '../../platform/files.js';
import { type Clock, within } from '../../core/clock.js';
import { isAlive, type ProcessRef } from '../../platform/process-tree.js';
import type { LiveAgent } from '../contract.js';
import { watchLaunch } from '../../platform/launch/launch-watch.js';
import { launchFiles, readPidFile, type LaunchFiles } from '../../platform/launch/launcher.js';
import { listPanes, type PaneRow } from './panes.js';
import { windowName } from './placement.js';
import { capturePane, lastLines } from './text.js';
import type { ControlClient } from './types.js';

/** From the start of a launcher to its agent's. */
const LAUNCH_LIMIT_MS = 5_000;

/** Agents that an earlier supervisor of this session started and that still live. */
export async function findLive(panes: readonly PaneRow[], clock: Clock): Promise<readonly LiveAgent[]> {
  const live: LiveAgent[] = [];
  for (const pane of panes) {
    const { workerId, attemptId } = pane;
    if (pane.dead || workerId === null || attemptId === null) continue;
    // The supervisor may have died before it could note the process on the pane; the launcher does in any case.
    const process =
      pane.process ??
      (pane.directory === null
        ? null
        : await processOf(launchFiles(pane.directory, workerId, attemptId), clock));
    if (process === null || !isAlive(process)) continue;
    live.push({
      workerId,
      attemptId,
      paneId: pane.paneId,
      window: windowName(pane.windowNumber ?? 0),
      ...process,
    });
  }
  return live;
}

/** Of a launcher that has only just begun, as soon as it says it. */
async function processOf(files: LaunchFiles, clock: Clock): Promise<ProcessRef | null> {
  const known = await readPidFile(files.pid);
  if (known !== null) return known;
  const watch = watchLaunch(files, () => undefined);
  try {
    await watch.check();
    return await within(
      clock,
      LAUNCH_LIMIT_MS,
      Promise.race([watch.started, watch.ended.then(() => null)]),
      null,
    );
  } finally {
    watch.close();
  }
}

/** Notes where the text of a worker went whose pane was given to another, for supervisors to come. */
export async function rememberText(directory: string, workerId: string, textFile: string): Promise<void> {
  await ensurePrivateDirectory(join(directory, 'texts'));
  await writeFileAtomic(join(directory, 'texts', workerId), textFile);
}

/** Keeps the text of every agent's pane in its worker's folder; the panes are about to go. */
export async function saveTexts(client: ControlClient, target: string): Promise<void> {
  const panes = await listPanes(client, target);
  await Promise.all(
    panes.map(async ({ paneId, directory, workerId, attemptId }) => {
      if (directory === null || workerId === null || attemptId === null) return;
      const lines = await capturePane(client, paneId, 'all');
      await writeFileAtomic(launchFiles(directory, workerId, attemptId).text, `${lines.join('\n')}\n`);
    }),
  );
}

/** Text of a worker that ended under an earlier supervisor; null when nothing is known of it. */
export async function readEarlier(
  place: { client: ControlClient; target: string; directory: string },
  workerId: string,
  lines: number,
): Promise<string | null> {
  const panes = await listPanes(place.client, place.target);
  const pane = panes.findLast((row) => row.workerId === workerId && row.attemptId !== null);
  if (pane !== undefined) return (await capturePane(place.client, pane.paneId, lines)).join('\n');
  const file = await readTextFile(join(place.directory, 'texts', workerId));
  return file === null ? null : readSavedText(file, lines);
}

export async function readSavedText(file: string, lines: number): Promise<string> {
  return lastLines(((await readTextFile(file)) ?? '').split('\n'), lines).join('\n');
}
