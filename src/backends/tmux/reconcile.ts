import type { Clock } from '../../core/clock.js';
import type { Logger } from '../../platform/logger.js';
import { isAlive, isStopped, processTree, signalProcess } from '../../platform/process-tree.js';
import { stopTargetOf, type Entry } from './entry.js';
import { listPanes, type PaneRow } from './panes.js';
import type { Roster } from './roster.js';
import { endProcesses } from '../../platform/launch/end-processes.js';
import type { ControlClient } from './types.js';

/** What tmux says when a pane of ours went, by whomever. */
export const PANE_WENT = /^(window-close|unlinked-window-close|layout-change) /;

export interface ReconcileOptions {
  readonly client: ControlClient;
  readonly target: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly roster: Roster;
}

/**
 * The safety net under the events: compares what tmux, the files and the processes say with what we believe. One that
 * cannot be asked says nothing: an error here changes nothing.
 */
export async function reconcile(options: ReconcileOptions): Promise<void> {
  // Taken before asking: a pane made meanwhile is not in the answer.
  const entries = options.roster.live();
  let panes: readonly PaneRow[];
  try {
    panes = await listPanes(options.client, options.target);
  } catch (error) {
    options.logger.debug({ error: String(error) }, 'tmux cannot be asked; nothing is concluded');
    return;
  }
  for (const entry of entries) {
    await look(options, entry, panes).catch((error: unknown) =>
      options.logger.warn(
        { workerId: entry.spec.workerId, error: String(error) },
        'the look at a pane failed',
      ),
    );
  }
}

async function look(options: ReconcileOptions, entry: Entry, panes: readonly PaneRow[]): Promise<void> {
  // An exit file settles the entry by itself.
  await entry.watch.check();
  if (entry.phase !== 'live') return;
  const pane = panes.find(({ paneId }) => paneId === entry.paneId);
  if (pane === undefined) await withoutPane(options, entry);
  else if (pane.dead) await inDeadPane(options, entry, pane);
  else await inLivePane(options, entry);
}

/** A person closed the pane, or something closed it for them. */
async function withoutPane(options: ReconcileOptions, entry: Entry): Promise<void> {
  // The hang-up ends most agents; one that ignores it would go on where nobody can see or steer it.
  await endProcesses(stopTargetOf(entry), { graceMs: 1_000, clock: options.clock });
  await entry.watch.check();
  if (entry.phase === 'live') await options.roster.tellLost(entry, 'its pane was closed');
}

/**
 * The launcher was killed before it could write. tmux may know the status; it loses child signals, and looks again only
 * when another child ends.
 */
async function inDeadPane(options: ReconcileOptions, entry: Entry, pane: PaneRow): Promise<void> {
  if (isAlive(entry.process)) {
    await endProcesses(stopTargetOf(entry), { graceMs: 1_000, clock: options.clock });
    return options.roster.tellLost(entry, 'its terminal was taken away');
  }
  if (pane.deadStatus === null)
    await options.client.command('run-shell', '-b', 'true').catch(() => undefined);
  const again = (await listPanes(options.client, options.target).catch(() => [])).find(
    ({ paneId }) => paneId === entry.paneId,
  );
  await options.roster.tellExited(entry, again?.deadStatus ?? pane.deadStatus);
}

async function inLivePane(options: ReconcileOptions, entry: Entry): Promise<void> {
  if (isAlive(entry.process)) {
    entry.missed = 0;
    if (isStopped(entry.process.pid) || (entry.launcher !== null && isStopped(entry.launcher.pid)))
      await resume(options, entry);
    return;
  }
  // Its launcher is about to write the status, however long that takes where there is much to do.
  if (entry.launcher !== null && isAlive(entry.launcher))
    return void signalProcess(entry.launcher, 'SIGCONT');
  entry.missed++;
  if (entry.missed > 1) await options.roster.tellExited(entry, null);
}

/** Ctrl-Z in a pane stops an agent for good: there is no shell to say `fg` to. */
async function resume(options: ReconcileOptions, entry: Entry): Promise<void> {
  options.logger.warn({ workerId: entry.spec.workerId }, 'the agent was stopped; it is continued');
  for (const found of await processTree([entry.launcher?.pid ?? entry.process.pid, entry.process.pid])) {
    if (isStopped(found.pid)) signalProcess(found, 'SIGCONT');
  }
}
