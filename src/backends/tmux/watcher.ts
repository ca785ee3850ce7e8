import type { Clock } from '../../core/clock.js';
import type { Logger } from '../../platform/logger.js';
import type { BackendEvent } from '../contract.js';
import { shownDialog } from './dialog.js';
import type { SentinelHint } from './output-scanner.js';
import type { Look, PaneView } from './pane-view.js';
import { Pulse } from './pulse.js';
import type { Reading } from './screen.js';
import { findSentinels } from '../../core/sentinels.js';
import { SentinelLedger } from './sentinel-ledger.js';

export interface WatcherOptions {
  readonly view: Pick<PaneView, 'lookShared' | 'lines'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly workerId: string;
  /** Its program was started by somebody before us: it may stand at its composer with a turn that failed meanwhile. */
  readonly takenOver?: boolean;
  readonly emit: (event: BackendEvent) => void;
}

/** A screen that has stood this long, or said the same through so much redrawing, is believed. */
const QUIET_MS = 200;
/** While a program draws without pause the screen is read this often: while it changes, and once it is believed. */
const REREAD_MS = 100;
const REREAD_SETTLED_MS = 500;
const OUTPUT_EVENT_MS = 250;
const SENTINEL_LINES = 2_000;

/**
 * Watches one pane: reads the screen on new output and once more when it is quiet, and tells states and sentinels.
 * No output, no work. `idle` and `unknown` are told only when they lasted; what needs somebody at once is told at once.
 */
export class PaneWatcher {
  /** Beats after every reading. */
  readonly readings = new Pulse();
  /** The screen as it is believed to be; null while it changes, or when we typed and nothing was read since. */
  settled: Reading | null = null;
  /** Once idle with a composer, or at it after a failure that another supervisor did not see. Never unlatched. */
  ready = false;
  private readonly options: WatcherOptions;
  private readonly ledger = new SentinelLedger();
  private candidate: { readonly reading: Reading; readonly since: number } | null = null;
  private told = { key: '', shown: '' };
  private lastOutputAt = 0;
  private lastReadAt = -Infinity;
  private lastOutputEventAt = -Infinity;
  private timer: { readonly dueAt: number; readonly cancel: () => void } | null = null;
  private reading: Promise<void> | null = null;
  /** A sentinel may have been printed: look at this time, when its line is surely whole. null: nothing to look for. */
  private scanAt: number | null = null;
  private lastScanAt = -Infinity;
  private shownSentinels = '';
  private closed = false;

  constructor(options: WatcherOptions) {
    this.options = options;
  }

  /** The last reading, believed or not. */
  get latest(): Reading | null {
    return this.candidate?.reading ?? null;
  }

  /** Since when the pane shows that, ms. */
  get latestSince(): number | null {
    return this.candidate?.since ?? null;
  }

  /** What the pane shows before we send anything is old, unless a nonce ties it to a run. */
  async begin(): Promise<void> {
    await this.scan((nonce) => nonce !== null);
    this.touch();
  }

  output(hint: SentinelHint): void {
    const now = this.options.clock.now();
    if (now - this.lastOutputEventAt >= OUTPUT_EVENT_MS) {
      this.lastOutputEventAt = now;
      this.options.emit({ type: 'output', workerId: this.options.workerId });
    }
    if (hint === 'begun') this.scanAt ??= now + QUIET_MS;
    if (hint === 'complete') {
      this.scanAt = now;
      if (now - this.lastScanAt >= REREAD_MS)
        void this.scan().catch((error: unknown) => this.unreadable(error));
    }
    this.touch();
  }

  /** Reads the screen soon, and again when it is quiet, whether or not there is output. */
  touch(): void {
    this.lastOutputAt = this.options.clock.now();
    this.schedule();
  }

  /** We typed: what was believed about the screen is void until it is read again. */
  unsettle(): void {
    this.settled = null;
    this.candidate = null;
    this.lastReadAt = this.options.clock.now();
    this.touch();
  }

  /** We answered a dialog: whatever stands there next is news, and were it the same dialog once more. */
  retell(): void {
    this.told = { key: '', shown: '' };
    this.unsettle();
  }

  /** Sentinels printed so far are told before this resolves; those printed later are new. */
  async flushSentinels(): Promise<void> {
    if (this.scanAt !== null) await this.scan();
  }

  /** The last look at a pane whose program ended. */
  async finish(): Promise<void> {
    if (this.closed) return;
    this.close();
    await this.reading;
    await this.scan().catch(() => undefined);
  }

  close(): void {
    this.closed = true;
    this.timer?.cancel();
    this.timer = null;
    this.readings.beat();
  }

  /** Reads now, or later, or rests when the quiet screen was read. */
  private schedule(): void {
    if (this.closed || this.reading !== null) return;
    const now = this.options.clock.now();
    const quietAt = this.lastOutputAt + QUIET_MS;
    if (this.lastReadAt >= quietAt) return;
    const rereadAt = this.lastReadAt + (this.settled === null ? REREAD_MS : REREAD_SETTLED_MS);
    const dueAt = this.lastOutputAt > this.lastReadAt ? Math.min(rereadAt, quietAt) : quietAt;
    if (dueAt <= now) return this.read(now);
    if (this.timer !== null && this.timer.dueAt <= dueAt) return;
    this.timer?.cancel();
    const cancel = this.options.clock.after(dueAt - now, () => {
      this.timer = null;
      this.schedule();
    });
    this.timer = { dueAt, cancel };
  }

  private read(startedAt: number): void {
    this.lastReadAt = startedAt;
    this.reading = this.evaluate(startedAt)
      .catch((error: unknown) => this.unreadable(error))
      .finally(() => {
        this.reading = null;
        this.readings.beat();
        this.schedule();
      });
  }

  private unreadable(error: unknown): void {
    this.options.logger.debug({ workerId: this.options.workerId, error }, 'the pane could not be read');
  }

  private async evaluate(startedAt: number): Promise<void> {
    if (this.scanAt !== null && startedAt >= this.scanAt) await this.scan();
    const look = await this.options.view.lookShared();
    const { reading } = look;
    await this.scanForHidden(look);
    if (this.candidate === null || !sameReading(this.candidate.reading, reading)) {
      this.candidate = { reading, since: startedAt };
      this.settled = null;
    }
    const quiet = startedAt - this.lastOutputAt >= QUIET_MS;
    const lasted = startedAt - this.candidate.since >= QUIET_MS;
    if (quiet || lasted) this.settled = reading;
    const rests = reading.state === 'idle' || (reading.state === 'error' && this.options.takenOver === true);
    if (this.settled !== null && rests && reading.composer !== null) this.ready = true;
    this.tell(reading, quiet);
  }

  private tell(reading: Reading, quiet: boolean): void {
    const { state, kind, text, shown, dialog } = reading;
    const key = `${state}/${kind ?? ''}/${dialog?.promptHash ?? ''}`;
    const isNew = key !== this.told.key;
    // A running clock or spinner inside a dialog is no news, nor is which of its choices is selected.
    if (!isNew && (dialog !== null || shown === this.told.shown || !quiet)) return;
    // A dialog that can be answered is told whole: half drawn it would be another one.
    const atOnce = state === 'working' || (state === 'waiting' && dialog === null);
    if (this.settled === null && !atOnce) return;
    this.told = { key, shown };
    this.options.emit({
      type: 'state',
      workerId: this.options.workerId,
      state,
      kind,
      text,
      dialog: dialog === null ? null : shownDialog(dialog),
      evidence: 'screen',
    });
  }

  /** Programs that redraw by difference may print a sentinel without its letters ever being together in the stream. */
  private async scanForHidden(look: Look): Promise<void> {
    const shown = findSentinels(look.screen.rows)
      .map(({ line }) => line)
      .join('\n');
    if (shown === this.shownSentinels) return;
    this.shownSentinels = shown;
    if (shown !== '') await this.scan();
  }

  private async scan(wanted: (nonce: string | null) => boolean = () => true): Promise<void> {
    this.scanAt = null;
    this.lastScanAt = this.options.clock.now();
    const found = findSentinels(await this.options.view.lines(SENTINEL_LINES));
    const sentinels = this.ledger.take(found).filter(({ nonce }) => wanted(nonce));
    if (sentinels.length > 0)
      this.options.emit({ type: 'sentinels', workerId: this.options.workerId, sentinels });
  }
}

function sameReading(a: Reading, b: Reading): boolean {
  return (
    a.state === b.state &&
    a.kind === b.kind &&
    (a.dialog?.promptHash ?? null) === (b.dialog?.promptHash ?? null) &&
    (a.composer?.text ?? null) === (b.composer?.text ?? null)
  );
}
