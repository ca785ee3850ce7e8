import { join } from 'node:path';
import { delay, type Clock } from '../../core/clock.js';
import { OrchestratorError, toOrchestratorError } from '../../core/errors/error.js';
import { createMutex } from '../../platform/locks.js';
import type { Logger } from '../../platform/logger.js';
import { processRef } from '../../platform/process-tree.js';
import type {
  Backend,
  BackendEvent,
  Delivery,
  LiveAgent,
  SendOptions,
  StartedAgent,
  StartSpec,
  StopResult,
} from '../contract.js';
import { findLive, readEarlier, readSavedText, rememberText } from './earlier.js';
import { createEntry, startedAgent, stopTargetOf, type Entry } from './entry.js';
import { agentEnvironment } from './environment.js';
import { watchLaunch } from './exit-watch.js';
import { launchFiles } from './launcher.js';
import { MAX_PANES, windowCapacity, windowSizeFor, type WindowSize } from './layout.js';
import { PaneAgent } from './pane-agent.js';
import { makePane, setLabel, statusText, unmakePane, type PaneMakerOptions } from './pane-maker.js';
import { PaneRouter } from './pane-router.js';
import { listPanes, type PaneRow } from './panes.js';
import { reconcile } from './reconcile.js';
import { openTmuxSession, type TmuxSession } from './session.js';
import { launchAgent } from './start.js';
import { endProcesses, releaseLauncher } from './stop.js';
import { awaitLastOutput, capturePane } from './text.js';

export interface TmuxBackendOptions {
  readonly sessionId: string;
  /** First part of the socket's name: `agentorchestr`, or what AGENTORCHESTR_TMUX_SOCKET says. */
  readonly socketPrefix: string;
  /** Private runtime folder of the session: configuration, buffers, the panes' own TMUX_TMPDIR. */
  readonly directory: string;
  /** The user's environment; the server, and so every agent, starts with it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Removed from it by name, and by prefix. */
  readonly guardVariables: readonly string[];
  readonly ownSecretPrefixes: readonly string[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** The terminal that is about to attach; null when there is none. */
  readonly terminal: WindowSize | null;
  /** A person's own tmux configuration, read on top of ours. */
  readonly userConfig?: string;
}

const RECONCILE_MS = 30_000;
const RECONCILE_SOON_MS = 100;
const TAIL_LINES = 20;
const DESTROY_GRACE_MS = 500;
/** What tmux says when a pane of ours went, by whomever. */
const PANE_WENT = /^(window-close|unlinked-window-close|layout-change) /;

/** Drives the agents of one session in panes of a tmux server of its own. */
export function createTmuxBackend(options: TmuxBackendOptions): Backend {
  return new TmuxBackend(options);
}

class TmuxBackend implements Backend {
  readonly name = 'tmux';
  private readonly options: TmuxBackendOptions;
  private readonly size: WindowSize;
  private readonly entries = new Map<string, Entry>();
  private readonly byPane = new Map<string, Entry>();
  private readonly starting = new Set<string>();
  private readonly listeners = new Set<(event: BackendEvent) => void>();
  private readonly router = new PaneRouter();
  private readonly placing = createMutex();
  private readonly reconciling = createMutex();
  private opened: TmuxSession | null = null;
  private closing = false;
  private cancelReconcile: () => void = () => undefined;
  private cancelSoon: (() => void) | null = null;

  constructor(options: TmuxBackendOptions) {
    this.options = options;
    this.size = windowSizeFor(options.terminal);
  }

  async open(): Promise<{ socket: string; live: readonly LiveAgent[] }> {
    const { sessionId, socketPrefix, directory, clock, logger, terminal } = this.options;
    const rules = {
      guardVariables: this.options.guardVariables,
      ownPrefixes: this.options.ownSecretPrefixes,
    };
    const session = await openTmuxSession({
      ...{ sessionId, socketPrefix, directory, clock, logger, size: this.size },
      env: agentEnvironment(this.options.env, rules),
      userConfig: this.options.userConfig ?? null,
      onGap: this.router.gap,
      onReconnected: () => {
        this.router.gapEverywhere();
        this.reconcileSoon();
      },
    });
    this.opened = session;
    session.connection.onOutput(this.router.output);
    session.connection.onNotification((line) => {
      if (PANE_WENT.test(line)) this.reconcileSoon();
    });
    void session.connection.closed.then((reason) => this.onPlaceOver(reason));
    this.reconcileLater();
    const perWindow = windowCapacity(this.size, true);
    const notice =
      terminal === null || perWindow === MAX_PANES
        ? ''
        : `${perWindow} of ${MAX_PANES} per window at ${terminal.columns}x${terminal.rows}`;
    await session.connection.command('set-option', '-t', session.target, '@ao_notice', notice);
    return {
      socket: session.socketPath,
      live: await findLive(await listPanes(session.connection, session.target)),
    };
  }

  async start(spec: StartSpec): Promise<StartedAgent> {
    const { connection, tmuxDirectory } = this.session;
    const { workerId } = spec;
    if (this.starting.has(workerId) || this.entries.get(workerId)?.phase === 'live') {
      throw new OrchestratorError('SPAWN_FAILED', { worker: workerId, problem: 'it runs already' });
    }
    this.starting.add(workerId);
    const endStart = this.router.beginStart();
    try {
      const panes = this.paneMaker();
      const entry = await launchAgent(
        {
          ...{ client: connection, tmuxDirectory, clock: this.options.clock, logger: this.options.logger },
          makePane: (script) => this.placing(() => makePane(panes, spec, script)),
          unmakePane: (made) => this.placing(() => unmakePane(panes, spec, made)),
          watchPane: (paneId) => this.watchPane(spec, paneId),
          unwatchPane: (paneId, agent) => {
            this.router.remove(paneId);
            agent.close();
          },
        },
        spec,
      );
      return this.keep(entry);
    } finally {
      endStart();
      this.starting.delete(workerId);
    }
  }

  async adopt(live: LiveAgent, spec: StartSpec): Promise<StartedAgent> {
    const { connection, target } = this.session;
    const pane = (await listPanes(connection, target)).find(({ paneId }) => paneId === live.paneId);
    if (pane === undefined || pane.attemptId !== live.attemptId || spec.attemptId !== live.attemptId) {
      throw new OrchestratorError('SPAWN_FAILED', {
        worker: spec.workerId,
        problem: `attempt ${live.attemptId} is not in pane ${live.paneId} any more`,
      });
    }
    const files = launchFiles(spec.directory, spec.workerId, spec.attemptId);
    const watch = watchLaunch(files, (problem) =>
      this.options.logger.warn({ workerId: spec.workerId, problem }, 'the agent cannot be watched'),
    );
    const { pid, pidStartedAt } = live;
    const parts = {
      paneId: pane.paneId,
      window: live.window ?? '',
      launcher: processRef(pane.pid),
      process: { pid, pidStartedAt },
    };
    const entry = createEntry({ ...parts, spec, files, watch, agent: this.watchPane(spec, pane.paneId) });
    await setLabel(connection, pane.paneId, spec.label);
    const started = this.keep(entry);
    await watch.check();
    return started;
  }

  ready(workerId: string, signal?: AbortSignal): Promise<void> {
    return this.entry(workerId).agent.ready(signal);
  }

  send(workerId: string, text: string, options: SendOptions): Promise<Delivery> {
    return this.entry(workerId).agent.send(text, options);
  }

  async read(workerId: string, lines: number): Promise<string> {
    const entry = this.entries.get(workerId);
    if (entry === undefined) {
      const { connection: client, target } = this.session;
      const text = await readEarlier({ client, target, directory: this.options.directory }, workerId, lines);
      if (text === null) throw this.unknownWorker(workerId);
      return text;
    }
    if (entry.textSaved) return readSavedText(entry.files.text, lines);
    return entry.agent.read(lines).catch((error: unknown) => {
      // A pane that a person closed takes its text along; the last lines were kept when the end was told.
      if (entry.phase === 'ended') return entry.tail;
      throw error;
    });
  }

  async interrupt(workerId: string): Promise<void> {
    const { paneId, spec } = this.entry(workerId);
    const { connection } = this.session;
    // In copy mode the key would scroll instead.
    void connection.command('copy-mode', '-q', '-t', paneId).catch(() => undefined);
    await connection.command('send-keys', '-t', paneId, spec.launch.keys.interrupt);
  }

  async stop(workerId: string, options: { graceMs: number }): Promise<StopResult> {
    const { clock } = this.options;
    const entry = this.entries.get(workerId);
    if (entry === undefined) return this.stopUnknown(workerId, options);
    const result = await endProcesses(stopTargetOf(entry), { graceMs: options.graceMs, clock });
    await entry.watch.check();
    // The end is told before the caller goes on.
    await Promise.race([entry.over, delay(clock, 1_000)]);
    if (result.verified) void this.tellExited(entry, null);
    return result;
  }

  async label(workerId: string, text: string): Promise<void> {
    const entry = this.entries.get(workerId);
    if (entry === undefined || entry.textSaved) return;
    await this.cosmetic(() => setLabel(this.session.connection, entry.paneId, text));
  }

  async status(text: string): Promise<void> {
    await this.cosmetic(() =>
      this.session.connection.command(
        'set-option',
        '-t',
        this.session.target,
        '@ao_status',
        statusText(text),
      ),
    );
  }

  async releaseViewers(text: string): Promise<void> {
    await this.status(text);
    await this.cosmetic(async () => {
      const { connection } = this.session;
      const clients = await connection.command('list-clients', '-F', '#{client_control_mode} #{client_name}');
      const viewers = clients.filter((line) => line.startsWith('0 ')).map((line) => line.slice(2));
      await Promise.all(viewers.map((viewer) => connection.command('detach-client', '-t', viewer)));
    });
  }

  onEvent(listener: (event: BackendEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  async close(options: { destroy: boolean }): Promise<void> {
    if (this.closing) return;
    this.closing = true;
    this.cancelReconcile();
    this.cancelSoon?.();
    const session = this.opened;
    if (session === null) return;
    if (options.destroy) await this.endEverything(session);
    for (const entry of this.byPane.values()) {
      entry.watch.close();
      entry.agent.close();
    }
    await (options.destroy ? session.destroy() : session.connection.detach());
  }

  private get session(): TmuxSession {
    if (this.opened === null) throw new Error('the tmux backend was not opened');
    return this.opened;
  }

  private entry(workerId: string): Entry {
    const entry = this.entries.get(workerId);
    if (entry === undefined) throw this.unknownWorker(workerId);
    return entry;
  }

  private unknownWorker(workerId: string): OrchestratorError {
    return new OrchestratorError('UNKNOWN_WORKER', { worker: workerId, valid: [...this.entries.keys()] });
  }

  private watchPane(spec: StartSpec, paneId: string): PaneAgent {
    const { clock, logger, directory } = this.options;
    const agent = new PaneAgent({
      ...{
        client: this.session.connection,
        clock,
        logger,
        paneId,
        workerId: spec.workerId,
        launch: spec.launch,
      },
      bufferDirectory: join(directory, 'buffers'),
      emit: (event) => this.emit(event),
    });
    this.router.add(paneId, (data) => agent.onOutput(data));
    return agent;
  }

  private keep(entry: Entry): StartedAgent {
    this.entries.set(entry.spec.workerId, entry);
    this.byPane.set(entry.paneId, entry);
    void entry.watch.ended.then((status) => this.tellExited(entry, status));
    return startedAgent(entry);
  }

  private paneMaker(): PaneMakerOptions {
    const { connection: client, target } = this.session;
    return {
      ...{ client, target, size: this.size, logger: this.options.logger },
      textFileOf: (pane) => this.textFileOf(pane),
      onTextSaved: async (pane) => {
        const entry = this.byPane.get(pane.paneId);
        if (entry !== undefined) {
          entry.textSaved = true;
          entry.agent.close();
          this.byPane.delete(pane.paneId);
        }
        const file = this.textFileOf(pane) ?? entry?.files.text;
        if (pane.workerId !== null && file !== undefined)
          await rememberText(this.options.directory, pane.workerId, file);
      },
    };
  }

  /** null while the pane's agent has not ended, as far as we told. */
  private textFileOf(pane: PaneRow): string | null {
    const entry = this.byPane.get(pane.paneId);
    if (entry !== undefined) return entry.phase === 'ended' ? entry.files.text : null;
    const { directory, workerId, attemptId } = pane;
    // One that ended before its start was over is not an earlier supervisor's.
    if (workerId !== null && this.starting.has(workerId)) return null;
    return !pane.dead || directory === null || workerId === null || attemptId === null
      ? null
      : launchFiles(directory, workerId, attemptId).text;
  }

  private async tellExited(entry: Entry, status: number | null): Promise<void> {
    await this.tellEnd(entry, status, () => ({
      type: 'exited',
      workerId: entry.spec.workerId,
      attemptId: entry.spec.attemptId,
      status,
      outputTail: entry.tail,
    }));
  }

  private async tellLost(entry: Entry, reason: string): Promise<void> {
    await this.tellEnd(entry, null, () => ({ type: 'lost', workerId: entry.spec.workerId, reason }));
  }

  /** Once per entry: its last words first, then the event. */
  private async tellEnd(entry: Entry, status: number | null, event: () => BackendEvent): Promise<void> {
    if (entry.phase !== 'live') return;
    entry.phase = 'ending';
    const { connection } = this.session;
    await awaitLastOutput(connection, entry.paneId, this.options.clock).catch(() => undefined);
    entry.tail = await capturePane(connection, entry.paneId, TAIL_LINES).then(
      (lines) => lines.join('\n'),
      () => '',
    );
    await entry.agent
      .markEnded(status)
      .catch((error: unknown) =>
        this.options.logger.debug({ error: String(error) }, 'last words could not be read'),
      );
    if (entry.launcher !== null) releaseLauncher(entry.launcher);
    entry.watch.close();
    this.router.remove(entry.paneId);
    entry.phase = 'ended';
    this.emit(event());
    entry.resolveOver();
  }

  private async onPlaceOver(reason: string): Promise<void> {
    if (this.closing) return;
    this.cancelReconcile();
    this.cancelSoon?.();
    this.options.logger.error({ reason }, 'the tmux server is gone');
    const live = [...this.entries.values()].filter(({ phase }) => phase === 'live');
    // Their terminals are gone; an agent that goes on without one cannot be seen or steered by anyone.
    await Promise.all(
      live.map(async (entry) => {
        entry.watch.close();
        await endProcesses(stopTargetOf(entry), { graceMs: DESTROY_GRACE_MS, clock: this.options.clock });
        await this.tellLost(entry, `the tmux server ended: ${reason}`);
      }),
    );
    this.emit({ type: 'place_lost', reason });
  }

  private async stopUnknown(workerId: string, options: { graceMs: number }): Promise<StopResult> {
    const { connection, target } = this.session;
    const rows = (await listPanes(connection, target)).filter((row) => row.workerId === workerId);
    const results = await Promise.all(rows.map((row) => this.endRow(row, options.graceMs)));
    return {
      verified: results.every(({ verified }) => verified),
      survivors: results.flatMap(({ survivors }) => survivors),
    };
  }

  private endRow(row: PaneRow, graceMs: number): Promise<StopResult> {
    if (row.attemptId === null) return Promise.resolve({ verified: true, survivors: [] });
    const target = {
      agent: row.process,
      launcher: row.dead ? null : processRef(row.pid),
      attemptId: row.attemptId,
    };
    return endProcesses(target, { graceMs, clock: this.options.clock });
  }

  private async endEverything(session: TmuxSession): Promise<void> {
    const rows = await listPanes(session.connection, session.target).catch(() => []);
    const strangers = rows.filter((row) => !this.byPane.has(row.paneId));
    await Promise.all([
      ...[...this.entries.values()].map((entry) =>
        endProcesses(stopTargetOf(entry), { graceMs: DESTROY_GRACE_MS, clock: this.options.clock }),
      ),
      ...strangers.map((row) => this.endRow(row, DESTROY_GRACE_MS)),
    ]);
  }

  private reconcileLater(): void {
    this.cancelReconcile = this.options.clock.after(RECONCILE_MS, () => {
      void this.reconcileNow().finally(() => {
        if (!this.closing) this.reconcileLater();
      });
    });
  }

  private reconcileSoon(): void {
    this.cancelSoon ??= this.options.clock.after(RECONCILE_SOON_MS, () => {
      this.cancelSoon = null;
      void this.reconcileNow();
    });
  }

  private reconcileNow(): Promise<void> {
    const { clock, logger } = this.options;
    const { connection: client, target } = this.session;
    return this.reconciling(() =>
      reconcile({
        ...{ client, target, clock, logger },
        entries: () => [...this.entries.values()].filter(({ phase }) => phase === 'live'),
        onExited: (entry, status) => this.tellExited(entry, status),
        onLost: (entry, reason) => this.tellLost(entry, reason),
      }),
    ).catch((error: unknown) =>
      logger.warn({ error: toOrchestratorError(error).message }, 'the look at the panes failed'),
    );
  }

  /** What only adorns the place never fails a caller. */
  private async cosmetic(work: () => Promise<unknown>): Promise<void> {
    await work().catch((error: unknown) =>
      this.options.logger.debug({ error: String(error) }, 'tmux could not show it'),
    );
  }

  private emit(event: BackendEvent): void {
    for (const listener of this.listeners) {
      try {
        listener(event);
      } catch (error) {
        this.options.logger.error(
          { error: String(error), type: event.type },
          'a listener of backend events threw',
        );
      }
    }
  }
}
