import { type Clock, within } from '../../core/clock.js';
import { OrchestratorError } from '../../core/errors/error.js';
import type { Logger } from '../../platform/logger.js';
import type { BackendEvent, StartedAgent, StartSpec } from '../contract.js';
import { rememberText } from './earlier.js';
import { startedAgent, type Entry } from './entry.js';
import { launchFiles } from '../../platform/launch/launcher.js';
import type { PaneRow } from './panes.js';
import { releaseLauncher } from '../../platform/launch/end-processes.js';
import { awaitLastOutput, capturePane } from './text.js';
import type { ControlClient } from './types.js';

export interface RosterOptions {
  readonly client: ControlClient;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Private runtime folder of the session. */
  readonly directory: string;
  readonly emit: (event: BackendEvent) => void;
  /** The pane's output concerns nobody any more. */
  readonly onOver: (paneId: string) => void;
}

const TAIL_LINES = 20;
/** What a hanging server may hold up the news of an end. */
const LAST_WORDS_MS = 3_000;

/** The agents of this session that this supervisor started or took over, the ended ones included. Tells each end once. */
export class Roster {
  private readonly options: RosterOptions;
  /** The latest of each worker. */
  private readonly entries = new Map<string, Entry>();
  private readonly byPane = new Map<string, Entry>();
  /** Their attempts. */
  private readonly starting = new Map<string, string>();
  private readonly history: Entry[] = [];

  constructor(options: RosterOptions) {
    this.options = options;
  }

  find(workerId: string): Entry | undefined {
    return this.entries.get(workerId);
  }

  /** Throws UNKNOWN_WORKER. */
  get(workerId: string): Entry {
    const entry = this.entries.get(workerId);
    if (entry === undefined) throw this.unknown(workerId);
    return entry;
  }

  unknown(workerId: string): OrchestratorError {
    return new OrchestratorError('UNKNOWN_WORKER', { worker: workerId, valid: [...this.entries.keys()] });
  }

  live(): readonly Entry[] {
    return this.history.filter(({ phase }) => phase === 'live');
  }

  /** Every attempt there was. */
  ever(): readonly Entry[] {
    return this.history;
  }

  knowsPane(paneId: string): boolean {
    return this.byPane.has(paneId);
  }

  /** Runs one start of this worker. Throws SPAWN_FAILED while it runs or starts already. */
  async startOnce<T>({ workerId, attemptId }: StartSpec, work: () => Promise<T>): Promise<T> {
    if (this.starting.has(workerId) || this.entries.get(workerId)?.phase === 'live') {
      throw new OrchestratorError('SPAWN_FAILED', { worker: workerId, problem: 'it runs already' });
    }
    this.starting.set(workerId, attemptId);
    try {
      return await work();
    } finally {
      this.starting.delete(workerId);
    }
  }

  add(entry: Entry): StartedAgent {
    this.entries.set(entry.spec.workerId, entry);
    this.byPane.set(entry.paneId, entry);
    this.history.push(entry);
    void entry.watch.ended.then((status) => this.tellExited(entry, status));
    return startedAgent(entry);
  }

  /** Where the pane's text goes when its place is wanted; null while its agent has not ended, as far as we told. */
  textFileOf(pane: PaneRow): string | null {
    const entry = this.byPane.get(pane.paneId);
    if (entry !== undefined) return entry.phase === 'ended' ? entry.files.text : null;
    const { directory, workerId, attemptId } = pane;
    // One that ended before its start was over is not an earlier supervisor's.
    if (workerId === null || this.starting.get(workerId) === attemptId) return null;
    return !pane.dead || directory === null || attemptId === null
      ? null
      : launchFiles(directory, workerId, attemptId).text;
  }

  /** The pane goes; what it showed is in `file`. */
  async giveUpPane(pane: PaneRow, file: string): Promise<void> {
    const entry = this.byPane.get(pane.paneId);
    if (entry !== undefined) {
      entry.textSaved = true;
      entry.agent.close();
      this.byPane.delete(pane.paneId);
    }
    if (pane.workerId !== null) await rememberText(this.options.directory, pane.workerId, file);
  }

  tellExited(entry: Entry, status: number | null): Promise<void> {
    const { workerId, attemptId } = entry.spec;
    return this.tellEnd(entry, status, () => ({
      type: 'exited',
      workerId,
      attemptId,
      status,
      outputTail: entry.tail,
    }));
  }

  tellLost(entry: Entry, reason: string): Promise<void> {
    return this.tellEnd(entry, null, () => ({ type: 'lost', workerId: entry.spec.workerId, reason }));
  }

  close(): void {
    for (const entry of this.history) {
      entry.watch.close();
      entry.agent.close();
    }
  }

  /** Once per entry: its last words first, then the event. */
  private async tellEnd(entry: Entry, status: number | null, event: () => BackendEvent): Promise<void> {
    if (entry.phase !== 'live') return;
    entry.phase = 'ending';
    const { client, clock, logger } = this.options;
    const lastWords = awaitLastOutput(client, entry.paneId, clock)
      .then(() => capturePane(client, entry.paneId, TAIL_LINES))
      .then((lines) => lines.join('\n'));
    entry.tail = await within(clock, LAST_WORDS_MS, lastWords, '');
    const told = entry.agent
      .markEnded(status)
      .catch((error: unknown) => logger.debug({ error: String(error) }, 'last words could not be read'));
    await within(clock, LAST_WORDS_MS, told, undefined);
    if (entry.launcher !== null) releaseLauncher(entry.launcher);
    entry.watch.close();
    this.options.onOver(entry.paneId);
    entry.phase = 'ended';
    this.options.emit(event());
    entry.resolveOver();
  }
}
