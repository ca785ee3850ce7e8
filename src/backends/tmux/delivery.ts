import type { InteractiveLaunch } from '../../agents/contract.js';
import { delay, type Clock } from '../../core/clock.js';
import type { Delivery, SendOptions } from '../contract.js';
import { type ComposerRelation, isShownWhole, mayBeDrawn, relateComposer } from './composer-text.js';
import type { DeliveryText } from './delivery-text.js';
import { shownText, type Look, type PaneView } from './pane-view.js';
import type { Pulse } from './pulse.js';
import { promptAppeared } from './transcript.js';

export interface Pasted {
  readonly content: DeliveryText;
  /** The screen just before the paste. */
  readonly before: Look;
  /** The count of `activity` just before the paste. */
  readonly since: number;
}

export interface SubmissionContext {
  readonly view: PaneView;
  readonly clock: Clock;
  readonly launch: InteractiveLaunch;
  /** Beats on output of the pane, when its mode changes, and when it ends. */
  readonly activity: Pulse;
  readonly hasEnded: () => boolean;
}

/** From the paste to the outcome. Large texts get longer: the program has to read them first. */
const OUTCOME_LIMIT_MS = 10_000;
const LIMIT_PER_100_KB_MS = 1_000;
/** The submit key is repeated after this (doubled each time), and never before its effect could have been drawn. */
const REPEAT_MS = 400;
const MAX_ECHO_MS = 4_000;
/** A few looks may follow each other at once; then output alone is no reason to look more often than this. */
const EAGER_LOOKS = 6;
const LOOK_SPACING_MS = 20;
/** An agent that says itself what it took is waited for so long after the screen has shown it: its word is the better proof. */
const WORD_LAG_MS = 1_500;
/** Only a part of our text is shown: it counts as drawn once that has not changed for so long. */
const PARTIAL_MS = 40;

/**
 * Brings text that was just pasted to an outcome: submits it with the submit key alone once the composer shows it,
 * and waits for proof. The key is repeated only while the text is still in the composer; nothing is pasted again, and
 * no key is pressed into a dialog, an unknown screen, or a composer that holds more than our text.
 */
export async function submitPasted(
  context: SubmissionContext,
  pasted: Pasted,
  options: SendOptions,
): Promise<Delivery> {
  const submission = new Submission(context, pasted, options.confirmation !== undefined);
  void options.confirmation?.then(
    (proof) => submission.confirm(proof),
    () => undefined,
  );
  return submission.run();
}

class Submission {
  private readonly context: SubmissionContext;
  private readonly pasted: Pasted;
  private readonly text: string;
  private readonly awaitsWord: boolean;
  private readonly workedBefore: boolean;
  private readonly pastedAt: number;
  private readonly deadline: number;
  private proof: Delivery | null = null;
  /** When the composer first showed what we pasted, and what it showed where that is not the text itself. */
  private drawnAt: number | null = null;
  private mark: string | null = null;
  private shown: { readonly text: string; readonly since: number } = { text: '', since: 0 };
  private keyAt: number | null = null;
  private keys = 0;

  constructor(context: SubmissionContext, pasted: Pasted, awaitsWord: boolean) {
    this.context = context;
    this.awaitsWord = awaitsWord;
    this.pasted = pasted;
    this.text = pasted.content.text;
    this.workedBefore = pasted.before.reading.state === 'working';
    this.pastedAt = context.clock.now();
    this.deadline = this.pastedAt + OUTCOME_LIMIT_MS + (pasted.content.bytes / 100_000) * LIMIT_PER_100_KB_MS;
  }

  confirm({
    evidence,
    how,
  }: {
    evidence: Extract<Delivery, { outcome: 'submitted' }>['evidence'];
    how: string;
  }): void {
    this.proof ??= { outcome: 'submitted', evidence, how };
    this.context.activity.beat();
  }

  async run(): Promise<Delivery> {
    const { activity, clock, view } = this.context;
    await this.untilActivity(this.pasted.since, this.firstKeyCap());
    for (let looks = 1; ; looks++) {
      let since = activity.count;
      const look = this.proof === null ? await view.lookShared().catch(() => null) : null;
      if (this.proof !== null) return this.proof;
      if (look === null || look.dead || this.context.hasEnded()) return unconfirmed(look);
      const relation = this.relate(look);
      const how = this.proven(look, relation);
      if (how !== null) return this.wordOrScreen(how);
      if (clock.now() >= this.deadline) return unconfirmed(look);
      const keyDue = this.keyDue(look, relation);
      if (keyDue !== null && keyDue <= clock.now()) {
        since = activity.count;
        if (!(await this.pressSubmit(look))) return unconfirmed(look);
      }
      if (looks >= EAGER_LOOKS) await delay(clock, LOOK_SPACING_MS);
      await this.untilActivity(since, this.keyDue(look, relation));
    }
  }

  private async wordOrScreen(how: string): Promise<Delivery> {
    const { activity, clock, launch, hasEnded } = this.context;
    const due = clock.now() + (launch.hooks !== null && this.awaitsWord ? WORD_LAG_MS : 0);
    while (this.proof === null && !hasEnded() && clock.now() < due)
      await activity.after(activity.count, { clock, limitMs: due - clock.now() });
    return this.proof ?? { outcome: 'submitted', evidence: 'screen', how };
  }

  private untilActivity(since: number, dueAt: number | null): Promise<void> {
    const { activity, clock } = this.context;
    const until = Math.min(this.deadline, dueAt ?? Infinity);
    return activity.after(since, { clock, limitMs: until - clock.now() });
  }

  private relate(look: Look): ComposerRelation | 'none' {
    const composer = look.reading.composer;
    if (composer === null) return 'none';
    let relation = relateComposer(composer.text, this.text, this.mark);
    // The composer was empty before: what it shows first is how it draws our paste.
    const isFirst = this.drawnAt === null && this.keys === 0;
    if (relation === 'other' && isFirst && mayBeDrawn(composer.text, this.text)) {
      this.mark = composer.text;
      relation = 'ours';
    }
    const now = this.context.clock.now();
    if (relation === 'ours') this.drawnAt ??= now;
    if (composer.text !== this.shown.text) this.shown = { text: composer.text, since: now };
    return relation;
  }

  /** What proves that the agent took the text, in words; null while nothing does. */
  private proven(look: Look, relation: ComposerRelation | 'none'): string | null {
    const { state } = look.reading;
    if (relation === 'ours' || relation === 'mixed' || state === 'unknown') return null;
    const emptied = this.drawnAt !== null && relation !== 'none';
    if (emptied && state === 'working' && !this.workedBefore)
      return 'the composer emptied and a turn started';
    if (emptied && relation === 'empty' && this.workedBefore && this.keys > 0)
      return 'the composer emptied while a turn runs';
    if (relation !== 'empty' && this.keys === 0) return null;
    return this.promptAppeared(look) ? 'the composer emptied and the transcript shows the prompt' : null;
  }

  private promptAppeared(look: Look): boolean {
    const texts = this.mark === null ? [this.text] : [this.text, this.mark];
    return texts.some((text) => promptAppeared(text, this.pasted.before.screen.rows, look.screen.rows));
  }

  /** The time at which the submit key may be pressed, given this look; null: not on this screen. */
  private keyDue(look: Look, relation: ComposerRelation | 'none'): number | null {
    const { state } = look.reading;
    if (state === 'waiting' || state === 'unknown') return null;
    const { keys } = this.context.launch;
    if (this.keyAt === null) {
      if (relation === 'ours') return Math.max(this.pastedAt + keys.submitDelayMs, this.drawnWholeAt());
      return relation === 'empty' ? this.firstKeyCap() : null;
    }
    if (relation !== 'ours' || this.drawnAt === null) return null;
    const echoMs = Math.min(this.drawnAt - this.pastedAt, MAX_ECHO_MS);
    const afterKey = this.keyAt + REPEAT_MS * 2 ** (this.keys - 1) + echoMs * 1.3;
    return Math.max(afterKey, this.drawnAt + REPEAT_MS);
  }

  private drawnWholeAt(): number {
    const whole = this.mark !== null || isShownWhole(this.shown.text, this.text);
    return whole ? this.shown.since : this.shown.since + PARTIAL_MS;
  }

  private firstKeyCap(): number | null {
    const { redrawCapMs, submitDelayMs } = this.context.launch.keys;
    return this.keyAt === null ? this.pastedAt + Math.max(redrawCapMs, submitDelayMs) : null;
  }

  private async pressSubmit(look: Look): Promise<boolean> {
    const { view, clock, launch } = this.context;
    try {
      // A mode takes keys away from the program. Our text is in it already, so we do not wait for the person to leave.
      if (look.inMode) await view.leaveModes();
      await view.pressKey(launch.keys.submit);
    } catch {
      return false;
    }
    this.keyAt = clock.now();
    this.keys++;
    return true;
  }
}

/** `look`: the last one; null: there was none. */
export function unconfirmed(look: Look | null): Delivery {
  return { outcome: 'unconfirmed', screen: look === null ? '' : shownText(look) };
}
