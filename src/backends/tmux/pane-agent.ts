import type { InteractiveLaunch } from '../../agents/contract.js';
import type { Clock } from '../../core/clock.js';
import { OrchestratorError } from '../../core/errors/error.js';
import { createMutex } from '../../platform/locks.js';
import type { Logger } from '../../platform/logger.js';
import type { Answered, BackendEvent, Delivery, DialogAnswer, SendOptions } from '../contract.js';
import { answerDialog } from './answer.js';
import { deliver } from './attempt.js';
import { OutputScanner, type SentinelHint } from './output-scanner.js';
import { PaneView, shownText } from './pane-view.js';
import { Pulse } from './pulse.js';
import type { SendTarget } from './send-target.js';
import { SendQueue } from './sender.js';
import type { ControlClient } from './types.js';
import { PaneWatcher } from './watcher.js';

export interface PaneAgentOptions {
  readonly client: ControlClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly workerId: string;
  readonly paneId: string;
  readonly launch: InteractiveLaunch;
  /** Its program was started by somebody before us, who may have died before noting what it switched on. */
  readonly takenOver?: boolean;
  /** Private folder for the files that large texts travel in; made when it is needed. */
  readonly bufferDirectory: string;
  readonly emit: (event: BackendEvent) => void;
}

/**
 * The agent in one pane: watches its screen, delivers text to it, reads from it. It must be made as soon as the pane's
 * id is known and be given all output from then on. Emits `state`, `sentinels` and `output`; how the process ended is
 * told to it by `markEnded`.
 */
export class PaneAgent {
  private readonly options: PaneAgentOptions;
  private readonly view: PaneView;
  private readonly watcher: PaneWatcher;
  private readonly queue: SendQueue;
  private readonly target: SendTarget;
  private readonly scanner = new OutputScanner();
  private readonly activity = new Pulse();
  private readonly stopListening: () => void;
  private readonly begun: Promise<void>;
  private keptPasteMode: boolean | null = null;
  private modeSince: number | null = null;
  private end: { readonly status: number | null } | null = null;
  private closed = false;

  constructor(options: PaneAgentOptions) {
    const { client, clock, paneId, launch, bufferDirectory } = options;
    this.options = options;
    this.view = new PaneView(client, paneId, launch);
    const { view, activity } = this;
    const watcher = (this.watcher = new PaneWatcher({ ...options, view }));
    const target = (this.target = {
      ...{ client, clock, paneId, launch, bufferDirectory, view, watcher, activity },
      ended: () => this.whyEnded(),
      // Text is typed only into a composer that was recognised, and what draws one of those has switched it on.
      hasBracketedPaste: () =>
        this.scanner.bracketedPaste ?? this.keptPasteMode ?? options.takenOver === true,
      modeSince: () => this.modeSince,
      atTheKeys: createMutex(),
    });
    this.queue = new SendQueue(async (content, sendOptions) => {
      await this.begun;
      return deliver(target, content, sendOptions);
    });
    this.stopListening = client.onNotification((line) => this.onNotification(line));
    this.begun = this.begin().catch((error: unknown) =>
      options.logger.debug({ workerId: options.workerId, error }, 'the pane could not be read'),
    );
  }

  /** Raw `%output` bytes of this pane, still escaped. */
  onOutput(data: Buffer): void {
    if (this.closed) return;
    const before = this.scanner.bracketedPaste;
    const hint = this.scanner.feed(data);
    if (this.scanner.bracketedPaste !== before) this.keepPasteMode();
    this.changed(hint);
  }

  /** Output was missed: whatever it held, its sentinels included, is on the screen or above it. */
  onMissedOutput(): void {
    if (this.closed) return;
    this.changed(this.scanner.skip());
  }

  /**
   * Resolves once the agent stood idle with its composer drawn. Throws AGENT_NOT_READY when that takes longer than the
   * launch allows (a dialog in front stops that clock: a person has to answer it), AGENT_EXITED when it ends before,
   * and the reason of `signal` when it aborts.
   */
  async ready(signal?: AbortSignal): Promise<void> {
    const { clock, launch, workerId } = this.options;
    let deadline = clock.now() + launch.readyTimeoutMs;
    for (;;) {
      signal?.throwIfAborted();
      const since = this.watcher.readings.count;
      if (this.watcher.ready) return;
      if (this.whyEnded() !== null) {
        throw new OrchestratorError('AGENT_EXITED', {
          agent: workerId,
          status: this.end?.status ?? 'unknown',
          when: 'before it was ready',
        });
      }
      const inDialog = this.watcher.latest?.state === 'waiting';
      if (!inDialog && clock.now() >= deadline)
        throw new OrchestratorError('AGENT_NOT_READY', { agent: workerId, limit_ms: launch.readyTimeoutMs });
      await this.watcher.readings.after(since, {
        clock,
        limitMs: inDialog ? null : deadline - clock.now(),
        signal,
      });
      if (inDialog) deadline = clock.now() + launch.readyTimeoutMs;
    }
  }

  /** One text as one submission; see `Backend.send`. */
  send(text: string, options: SendOptions): Promise<Delivery> {
    // It may fail long before anybody asks for it; the screen is then the judge.
    options.confirmation?.catch(() => undefined);
    return this.queue.send(text, options);
  }

  /** See `Backend.answer`. A text that is held for the dialog stays held meanwhile. */
  async answer(answer: DialogAnswer): Promise<Answered> {
    await this.begun;
    return this.target.atTheKeys(() => answerDialog(this.target, answer));
  }

  /** The last lines of scrollback and screen, newest last. Works for a dead pane while it is kept. */
  async read(lines: number): Promise<string> {
    return (await this.view.lines(lines)).join('\n');
  }

  /** The visible screen without styles. */
  async screen(): Promise<string> {
    return shownText(await this.view.look());
  }

  /** The program ended. Resolves when the sentinels of its last words are told. What waits to be typed is refused. */
  async markEnded(status: number | null): Promise<void> {
    if (this.end !== null || this.closed) return;
    this.end = { status };
    this.activity.beat();
    await this.watcher.finish();
    this.stopListening();
  }

  /** Stops watching; texts that wait are refused. The pane stays as it is. */
  close(): void {
    this.closed = true;
    this.stopListening();
    this.watcher.close();
    this.activity.beat();
  }

  private changed(hint: SentinelHint): void {
    this.view.outdate();
    this.activity.beat();
    this.watcher.output(hint);
  }

  private whyEnded(): string | null {
    if (this.end !== null)
      return `the agent has ended (${this.end.status === null ? 'status unknown' : `status ${this.end.status}`})`;
    return this.closed ? 'the session lets go of its agents' : null;
  }

  private async begin(): Promise<void> {
    this.keptPasteMode = (await this.view.look()).keptPasteMode;
    await this.watcher.begin();
  }

  private keepPasteMode(): void {
    this.view.rememberPasteMode(this.scanner.bracketedPaste === true).catch(() => undefined);
  }

  private onNotification(line: string): void {
    if (line !== `pane-mode-changed ${this.options.paneId}`) return;
    this.modeSince = this.options.clock.now();
    this.view.outdate();
    this.activity.beat();
    this.watcher.touch();
  }
}
