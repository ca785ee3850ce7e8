import { type Clock, within } from '../../core/clock.js';
import { processRef } from '../../platform/process-tree.js';
import type { StopResult } from '../contract.js';
import { saveTexts } from './earlier.js';
import { stopTargetOf, type Entry } from './entry.js';
import { listPanes, type PaneRow } from './panes.js';
import type { Roster } from './roster.js';
import { endProcesses } from '../../platform/launch/end-processes.js';
import type { ControlClient } from './types.js';

export interface Endings {
  readonly client: ControlClient;
  readonly target: string;
  readonly clock: Clock;
  readonly roster: Roster;
}

const QUICK_GRACE_MS = 500;
const ASK_LIMIT_MS = 3_000;

/** Ends an agent with everything it started; its end has been told when this resolves, unless tmux hangs. */
export async function stopAgent(place: Endings, entry: Entry, graceMs: number): Promise<StopResult> {
  const { clock, roster } = place;
  const result = await endProcesses(stopTargetOf(entry), { graceMs, clock });
  await entry.watch.check();
  await within(clock, 1_000, entry.over, undefined);
  // Its launcher was killed, too, and nobody wrote a status.
  if (result.verified) await within(clock, 1_000, roster.tellExited(entry, null), undefined);
  return result;
}

/** Ends what an earlier supervisor started under this name. */
export async function stopStranger(place: Endings, workerId: string, graceMs: number): Promise<StopResult> {
  const rows = await listPanes(place.client, place.target);
  const results = await Promise.all(
    rows.filter((row) => row.workerId === workerId).map((row) => endRow(place.clock, row, graceMs)),
  );
  return {
    verified: results.every(({ verified }) => verified),
    survivors: results.flatMap(({ survivors }) => survivors),
  };
}

/** Ends every agent, and what ended ones left running; keeps what their panes show. */
export async function endEverything(place: Endings): Promise<void> {
  const { client, target, clock, roster } = place;
  const rows = await within(clock, ASK_LIMIT_MS, listPanes(client, target), []);
  await Promise.all([
    ...roster.ever().map((entry) => endProcesses(stopTargetOf(entry), { graceMs: QUICK_GRACE_MS, clock })),
    ...rows.filter((row) => !roster.knowsPane(row.paneId)).map((row) => endRow(clock, row, QUICK_GRACE_MS)),
  ]);
  await within(clock, ASK_LIMIT_MS, saveTexts(client, target), undefined);
}

/** The server is gone and every terminal with it: an agent that goes on cannot be seen or steered by anyone. */
export async function endOrphans(place: Endings, reason: string): Promise<void> {
  const { clock, roster } = place;
  await Promise.all(
    roster.live().map(async (entry) => {
      entry.watch.close();
      await endProcesses(stopTargetOf(entry), { graceMs: QUICK_GRACE_MS, clock });
      await roster.tellLost(entry, reason);
    }),
  );
}

function endRow(clock: Clock, row: PaneRow, graceMs: number): Promise<StopResult> {
  if (row.attemptId === null) return Promise.resolve({ verified: true, survivors: [] });
  const launcher = row.dead ? null : processRef(row.pid);
  return endProcesses({ agent: row.process, launcher, attemptId: row.attemptId }, { graceMs, clock });
}
