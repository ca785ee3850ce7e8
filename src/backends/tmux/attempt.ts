import { OrchestratorError } from '../../core/errors/error.js';
import type { Delivery, HeldReason, SendOptions } from '../contract.js';
import { submitPasted } from './delivery.js';
import type { DeliveryText } from './delivery-text.js';
import { finishEarlier, holdsIt, submitStanding } from './earlier-delivery.js';
import { judge, type Verdict } from './gate.js';
import type { Look } from './pane-view.js';
import { createPasteBuffer, type PasteBuffer } from './paste-buffer.js';
import type { SendTarget } from './send-target.js';
import { CANCELLED } from './sender.js';
import { lineLimitBytes, SURE_LINE_BYTES } from './terminal-line.js';

/** A person who scrolls or browses in the pane is left alone for so long; after that, delivery ends the mode. */
const VIEWER_MODE_MS = 60_000;

/**
 * Delivers one text: waits until the pane is open for it, types it once, brings it to an outcome. Throws only while
 * nothing was typed.
 */
export async function deliver(
  target: SendTarget,
  content: DeliveryText,
  options: SendOptions,
): Promise<Delivery> {
  const { earlier } = options;
  if (earlier?.state === 'typed') return finishEarlier(target, content, { ...options, earlier });
  const attempt = new Attempt(target, content, options);
  try {
    for (;;) {
      const outcome = await attempt.step();
      if (outcome !== null) return outcome;
    }
  } finally {
    await attempt.close();
  }
}

class Attempt {
  private readonly target: SendTarget;
  private readonly content: DeliveryText;
  private readonly options: SendOptions;
  private buffer: PasteBuffer | null = null;
  private held: HeldReason | null = null;
  private checked = false;

  constructor(target: SendTarget, content: DeliveryText, options: SendOptions) {
    this.target = target;
    this.content = content;
    this.options = options;
  }

  /** One look at the pane and what follows from it; null: look again. */
  async step(): Promise<Delivery | null> {
    const since = this.target.watcher.readings.count;
    const next = await this.target.atTheKeys(() => this.take());
    if (next === null || 'outcome' in next) return next;
    await this.hold(next, since);
    return null;
  }

  /** Types if the pane is open for it; else why not. */
  private async take(): Promise<Delivery | Exclude<Verdict, { is: 'refused' }> | null> {
    const { watcher, view, launch, ended } = this.target;
    const end = ended();
    if (end !== null) return refused(end);
    if (this.options.signal?.aborted === true) return CANCELLED;
    await watcher.flushSentinels();
    // Asked for in one go with the look, so that the paste can follow the moment the screen is found open.
    if (watcher.settled !== null && this.held === null) this.load();
    const look = await view.look();
    const verdict = judge({ look, settled: watcher.settled, ready: watcher.ready, steers: launch.steers });
    if (verdict.is === 'refused') return refused(verdict.reason);
    if (verdict.is === 'open') return this.type(look);
    if (verdict.is === 'held' && verdict.reason === 'human_draft' && this.isOursAlready(look)) {
      this.options.observer.typed(this.content.bytes);
      return submitStanding(this.target, this.content, { look, options: this.options });
    }
    return verdict;
  }

  /** An earlier supervisor died between the paste and the note of it: nobody else types this very text. */
  private isOursAlready(look: Look): boolean {
    const { settled } = this.target.watcher;
    return this.options.earlier !== undefined && settled !== null && holdsIt(look, this.content);
  }

  async close(): Promise<void> {
    const { buffer } = this;
    this.buffer = null;
    await buffer?.discard();
  }

  private load(): PasteBuffer {
    const { client, bufferDirectory } = this.target;
    return (this.buffer ??= createPasteBuffer(client, bufferDirectory, this.content));
  }

  /** The look is only as good as it is fresh: whatever has to be waited for ends in another one. */
  private async type(look: Look): Promise<Delivery | null> {
    if (!this.checked && !this.target.hasBracketedPaste()) {
      const problem = await cutOrSplit(look, this.content);
      this.checked = true;
      return problem === null ? null : refused(problem);
    }
    const buffer = this.load();
    if (!buffer.isLoaded()) {
      await buffer.loaded;
      return null;
    }
    if (this.options.signal?.aborted === true) return CANCELLED;
    const since = this.target.activity.count;
    const failure = await buffer.paste(this.target.paneId).then(() => null, pasteFailure);
    this.buffer = null;
    return failure ?? this.submit(look, since);
  }

  private async submit(before: Look, since: number): Promise<Delivery> {
    const { watcher, ended } = this.target;
    this.target.view.outdate();
    watcher.unsettle();
    this.options.observer.typed(this.content.bytes);
    const delivery = await submitPasted(
      { ...this.target, hasEnded: () => ended() !== null },
      { content: this.content, before, since },
      this.options,
    );
    watcher.unsettle();
    return delivery;
  }

  private async hold(verdict: Exclude<Verdict, { is: 'refused' }>, since: number): Promise<void> {
    const { view, watcher, clock, modeSince } = this.target;
    let limitMs: number | null = null;
    await this.close();
    if (verdict.is === 'held' && verdict.reason === 'copy_mode') {
      limitMs = (modeSince() ?? clock.now()) + VIEWER_MODE_MS - clock.now();
      if (limitMs <= 0 || !(await view.hasViewer())) return view.leaveModes();
    }
    if (verdict.is === 'held' && verdict.reason !== this.held) {
      this.held = verdict.reason;
      this.options.observer.held(verdict.reason);
    }
    await watcher.readings.after(since, { clock, limitMs, signal: this.options.signal });
  }
}

/** Why a program without bracketed paste would not get the text as one whole; null when it would. */
async function cutOrSplit(look: Look, { multiLine, bytes }: DeliveryText): Promise<string | null> {
  if (multiLine)
    return 'the program has not switched bracketed paste on: several lines would become several inputs';
  if (bytes <= SURE_LINE_BYTES || bytes <= (await lineLimitBytes(look.tty))) return null;
  return `its terminal is in line mode and would cut a line of ${bytes} bytes`;
}

/** An answer that never came leaves open whether the text was typed; tmux's own refusal does not. */
function pasteFailure(error: unknown): Delivery {
  const lost =
    error instanceof OrchestratorError &&
    (error.code === 'TMUX_LOST' || String(error.params['problem']).startsWith('no answer'));
  return lost
    ? { outcome: 'unconfirmed', screen: '' }
    : refused(error instanceof Error ? error.message : String(error));
}

function refused(reason: string): Delivery {
  return { outcome: 'refused', reason };
}
