import { join } from 'node:path';
import { Listeners } from '../../platform/listeners.js';
import { createMutex } from '../../platform/locks.js';
import type {
  Answered,
  Backend,
  BackendEvent,
  Delivery,
  DialogAnswer,
  LabelMore,
  LiveAgent,
  PastAgent,
  Reflowed,
  SendOptions,
  StartedAgent,
  StartSpec,
  StopResult,
  TerminalSize,
} from '../contract.js';
import { findLive, readEarlier, readSavedText } from './earlier.js';
import { endEverything, endOrphans, stopAgent, stopStranger, type Endings } from './endings.js';
import { agentEnvironment } from '../../platform/launch/environment.js';
import { letViewersGo } from './farewell.js';
import { fitFor, keepFit, keptFit, showFit, type Fit } from './fit.js';
import { followViewers } from './follow-viewers.js';
import { setLabel } from './labels.js';
import { windowCapacity } from './layout.js';
import type { TmuxBackendOptions } from './options.js';
import { PaneAgent } from './pane-agent.js';
import { makePane, unmakePane, type PaneMakerOptions } from './pane-maker.js';
import { PaneRouter } from './pane-router.js';
import { listPanes } from './panes.js';
import { lookBack } from './past.js';
import { PANE_WENT, reconcile } from './reconcile.js';
import { placesOf, reflowPanes } from './reflow.js';
import { Roster } from './roster.js';
import { Schedule } from './schedule.js';
import { openTmuxSession, type TmuxSession } from './session.js';
import { launchAgent } from './start.js';
import { takeOver } from './take-over.js';
import { drawForWhoComes, ringViewers, showStatus } from './viewers.js';

const RECONCILE_MS = 30_000;
const RECONCILE_SOON_MS = 100;

/** Drives the agents of one session in panes of a tmux server of its own. */
export function createTmuxBackend(options: TmuxBackendOptions): Backend {
  return new TmuxBackend(options);
}

interface Opened {
  readonly session: TmuxSession;
  readonly roster: Roster;
  readonly looks: Schedule;
}

class TmuxBackend implements Backend {
  readonly name = 'tmux';
  private readonly options: TmuxBackendOptions;
  private readonly listeners: Listeners<BackendEvent>;
  private readonly router = new PaneRouter();
  private readonly placing = createMutex();
  private fit: Fit;
  private opened: Opened | null = null;
  private closing = false;
  /** The session is: nobody is told what becomes of the place. */
  private over = false;

  constructor(options: TmuxBackendOptions) {
    this.options = options;
    this.listeners = new Listeners(options.logger);
    this.fit = fitFor(options.terminal);
  }

  async open(): Promise<{ socket: string; live: readonly LiveAgent[] }> {
    const { sessionId, socketPrefix, directory, clock, logger } = this.options;
    const session = await openTmuxSession({
      ...{ sessionId, socketPrefix, directory, clock, logger, size: this.fit.size },
      env: agentEnvironment(this.options.env, this.options),
      userConfig: this.options.userConfig ?? null,
      onGap: this.router.gap,
      onReconnected: () => {
        this.router.gapEverywhere();
        looks.soon();
        void lookAtViewers();
      },
    });
    const { connection: client, target } = session;
    const emit = (event: BackendEvent) => this.listeners.emit(event);
    const onOver = (paneId: string) => this.router.remove(paneId);
    const roster = new Roster({ client, clock, logger, directory, emit, onOver });
    const work = () => reconcile({ client, target, clock, logger, roster });
    const looks = new Schedule({ clock, everyMs: RECONCILE_MS, soonMs: RECONCILE_SOON_MS, work });
    this.opened = { session, roster, looks };
    client.onOutput(this.router.output);
    client.onNotification((line) => {
      if (PANE_WENT.test(line)) looks.soon();
    });
    const lookAtViewers = followViewers(client, { target, sessionId, emit, onFailure: this.notShown });
    void client.closed.then((reason) => this.onPlaceOver(reason));
    this.fit = (await keptFit(client, target)) ?? this.fit;
    await this.cosmetic(() => Promise.all([showFit(client, target, this.fit), lookAtViewers()]));
    return { socket: session.socketPath, live: await findLive(await listPanes(client, target), clock) };
  }

  start(spec: StartSpec): Promise<StartedAgent> {
    const { session, roster } = this.place;
    const { clock, logger } = this.options;
    const panes = this.paneMaker();
    return roster.startOnce(spec, async () => {
      const endStart = this.router.beginStart();
      try {
        const entry = await launchAgent(
          {
            ...{ client: session.connection, tmuxDirectory: session.tmuxDirectory, clock, logger },
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
        return roster.add(entry);
      } finally {
        endStart();
      }
    });
  }

  async adopt(live: LiveAgent, spec: StartSpec): Promise<StartedAgent> {
    const { session, roster } = this.place;
    const { connection: client } = session;
    const watchPane = (paneId: string) => this.watchPane(spec, paneId, { takenOver: true });
    const entry = await takeOver({ client, logger: this.options.logger, watchPane }, live, spec);
    await this.cosmetic(() => setLabel(client, entry.paneId, { text: spec.label }));
    const started = roster.add(entry);
    await entry.watch.check();
    return started;
  }

  lookBack(attempt: { workerId: string; attemptId: string; directory: string }): Promise<PastAgent> {
    const { connection: client, target } = this.place.session;
    return lookBack({ client, target, clock: this.options.clock }, attempt);
  }

  ready(workerId: string, signal?: AbortSignal): Promise<void> {
    return this.place.roster.get(workerId).agent.ready(signal);
  }

  send(workerId: string, text: string, options: SendOptions): Promise<Delivery> {
    return this.place.roster.get(workerId).agent.send(text, options);
  }

  async answer(workerId: string, answer: DialogAnswer): Promise<Answered> {
    return this.place.roster.get(workerId).agent.answer(answer);
  }

  async read(workerId: string, lines: number): Promise<string> {
    const { roster, session } = this.place;
    const { connection: client, target } = session;
    const entry = roster.find(workerId);
    if (entry === undefined) {
      const { directory } = this.options;
      const text = await readEarlier({ client, target, directory }, workerId, lines);
      if (text === null) throw roster.unknown(workerId);
      return text;
    }
    if (entry.textSaved) return readSavedText(entry.files.text, lines);
    try {
      return await entry.agent.read(lines);
    } catch (error) {
      // A pane that a person closed takes its text along; the last lines were kept when the end was told.
      if (entry.phase === 'ended') return entry.tail;
      throw error;
    }
  }

  async interrupt(workerId: string): Promise<void> {
    const { paneId, spec } = this.place.roster.get(workerId);
    const { connection } = this.place.session;
    // In copy mode the key would scroll instead.
    void connection.command('copy-mode', '-q', '-t', paneId).catch(() => undefined);
    await connection.command('send-keys', '-t', paneId, spec.launch.keys.interrupt);
  }

  stop(workerId: string, options: { graceMs: number }): Promise<StopResult> {
    const entry = this.place.roster.find(workerId);
    if (entry === undefined) return stopStranger(this.endings(), workerId, options.graceMs);
    return stopAgent(this.endings(), entry, options.graceMs);
  }

  async label(workerId: string, text: string, more: LabelMore = {}): Promise<void> {
    const entry = this.place.roster.find(workerId);
    if (entry === undefined || entry.textSaved) return;
    await this.cosmetic(() => setLabel(this.place.session.connection, entry.paneId, { ...more, text }));
  }

  async status(text: string): Promise<void> {
    const { connection, target } = this.place.session;
    await this.cosmetic(() => showStatus(connection, target, text));
  }

  async bell(): Promise<void> {
    await this.cosmetic(() => ringViewers(this.place.session.connection));
  }

  reflow(terminal: TerminalSize): Promise<Reflowed> {
    const { connection: client, target } = this.place.session;
    return this.placing(async () => {
      this.fit = fitFor(terminal);
      const { size } = this.fit;
      await keepFit(client, target, this.fit);
      const { windows } = await reflowPanes({ client, target, size });
      await this.cosmetic(() => showFit(client, target, this.fit));
      const panes = await listPanes(client, target);
      return { perWindow: windowCapacity(size, true), windows, placed: placesOf(panes) };
    });
  }

  async releaseViewers(text: string, { mayStay }: { mayStay: boolean }): Promise<void> {
    this.over = true;
    await this.status(text);
    const { connection, target } = this.place.session;
    const { clock, readingMs: afterMs } = this.options;
    await this.cosmetic(() => letViewersGo(connection, { target, clock, afterMs, mayStay }));
  }

  onEvent(listener: (event: BackendEvent) => void): () => void {
    return this.listeners.add(listener);
  }

  async close(options: { destroy: boolean }): Promise<void> {
    if (this.closing) return;
    this.closing = true;
    if (this.opened === null) return;
    const { session, roster, looks } = this.opened;
    looks.close();
    if (options.destroy) await endEverything(this.endings());
    roster.close();
    if (!options.destroy) await this.cosmetic(() => drawForWhoComes(session.connection));
    await (options.destroy ? session.destroy() : session.connection.detach());
  }

  private get place(): Opened {
    if (this.opened === null) throw new Error('the tmux backend was not opened');
    return this.opened;
  }

  private endings(): Endings {
    const { session, roster } = this.place;
    return { client: session.connection, target: session.target, clock: this.options.clock, roster };
  }

  private watchPane(spec: StartSpec, paneId: string, { takenOver } = { takenOver: false }): PaneAgent {
    const { clock, logger, directory } = this.options;
    const { workerId, launch } = spec;
    const agent = new PaneAgent({
      ...{ client: this.place.session.connection, clock, logger, paneId, workerId, launch, takenOver },
      bufferDirectory: join(directory, 'buffers'),
      emit: (event) => this.listeners.emit(event),
    });
    this.router.add(paneId, agent);
    return agent;
  }

  private paneMaker(): PaneMakerOptions {
    const { session, roster } = this.place;
    return {
      ...{
        client: session.connection,
        target: session.target,
        size: this.fit.size,
        hasLead: this.options.hasLead ?? true,
        logger: this.options.logger,
      },
      textFileOf: (pane) => roster.textFileOf(pane),
      onTextSaved: (pane, file) => roster.giveUpPane(pane, file),
    };
  }

  private async onPlaceOver(reason: string): Promise<void> {
    if (this.closing || this.over) return;
    this.place.looks.close();
    this.options.logger.error({ reason }, 'the tmux server is gone');
    await endOrphans(this.endings(), `the tmux server ended${reason === '' ? '' : `: ${reason}`}`);
    this.listeners.emit({ type: 'place_lost', reason });
  }

  /** What only adorns the place never fails a caller. */
  private async cosmetic(work: () => Promise<unknown>): Promise<void> {
    await work().catch(this.notShown);
  }

  private readonly notShown = (error: unknown) =>
    this.options.logger.debug({ error: String(error) }, 'tmux could not show it');
}
