import { delay } from '../../core/clock.js';
import type { Answered, DialogAnswer } from '../contract.js';
import type { SendTarget } from './send-target.js';
import { shownDialog, type DialogReading } from './dialog.js';
import { shownText, type Look } from './pane-view.js';

/** From the first key to the outcome. */
const OUTCOME_LIMIT_MS = 15_000;
/** Some programs drop part of the keys that come just after they drew a dialog. */
const YOUNG_MS = 600;
/** A key that shows no effect for so long was dropped (moving; choosing, which must never happen twice). */
const MOVE_AGAIN_MS = 500;
const CHOOSE_AGAIN_MS = 1_500;
const CHOOSE_TIMES = 3;
/** A dialog that is gone from one look may be about to be redrawn. */
const GONE_MS = 150;
/** More keys were pressed than were seen to move anything: the rest may come yet. */
const STRAY_MS = 1_000;
const LOOK_SPACING_MS = 20;

/**
 * Answers one dialog by keys. Runs while nobody else types into the pane. Every key goes into a screen that was just
 * seen to show this very dialog, and a key that had an effect is never pressed again.
 */
export function answerDialog(target: SendTarget, answer: DialogAnswer): Promise<Answered> {
  return new Answering(target, answer).run();
}

class Answering {
  private readonly target: SendTarget;
  private readonly answer: DialogAnswer;
  private deadline = Infinity;
  private touched = false;
  /** The key that takes the choice was pressed. */
  private chosen = false;
  /** Keys that move, and steps that were seen. */
  private moves = { keys: 0, steps: 0 };
  /** Longer after each time that a key showed no effect in time: it may only be slow. */
  private moveAgainMs = MOVE_AGAIN_MS;

  constructor(target: SendTarget, answer: DialogAnswer) {
    this.target = target;
    this.answer = answer;
  }

  async run(): Promise<Answered> {
    const end = this.target.ended();
    if (end !== null) return refused(end);
    try {
      return await this.answerIt();
    } catch (error) {
      if (this.chosen) return { outcome: 'unconfirmed', screen: '' };
      return refused(error instanceof Error ? error.message : String(error));
    } finally {
      if (this.touched) this.target.watcher.retell();
    }
  }

  private async answerIt(): Promise<Answered> {
    const look = await this.steadyLook();
    if (look.dead) return refused('its program has ended');
    if (look.inputOff) return refused("somebody switched the pane's input off");
    const dialog = this.wanted(look);
    if (dialog === null) return changed(look);
    const { choices, by } = dialog;
    const index = choices.findIndex(({ number }) => number === this.answer.choice);
    if (index === -1) return refused(`it has no choice ${this.answer.choice}`);
    if (by === 'digit' && this.answer.choice > 9) return refused('it takes one digit');
    await this.letStand();
    this.deadline = this.target.clock.now() + OUTCOME_LIMIT_MS;
    const stopped = by === 'move' ? await this.moveTo(index) : null;
    return stopped ?? this.choose(by, index);
  }

  /** Brings the mark to the choice, one step at a time; null once it is there, seen and still. */
  private async moveTo(index: number): Promise<Answered | null> {
    for (;;) {
      const look = await this.steadyLook();
      if (this.wanted(look) === null) return changed(look);
      const at = this.selected(look);
      if (at === -1) return refused('it does not show what is selected');
      if (at === index) {
        if (this.moves.keys === this.moves.steps) return null;
        this.moves = { keys: 0, steps: 0 };
        if ((await this.after(STRAY_MS, (now) => this.selected(now) !== at)) === null) return null;
        continue;
      }
      if (this.target.clock.now() >= this.deadline) return unconfirmed(look);
      await this.press(look, at < index ? 'Down' : 'Up');
      this.moves.keys++;
      const moved = await this.after(this.moveAgainMs, (now) => this.selected(now) !== at);
      if (moved !== null) this.moves.steps++;
      else this.moveAgainMs *= 2;
    }
  }

  /** Takes the choice. Its key is pressed again only while nothing at all has happened to the dialog. */
  private async choose(by: DialogReading['by'], index: number): Promise<Answered> {
    for (let times = 1; times <= CHOOSE_TIMES; times++) {
      const look = await this.steadyLook();
      const dialog = this.wanted(look);
      if (dialog === null) return this.chosen ? ANSWERED : changed(look);
      if (by === 'move' && dialog.choices[index]?.selected !== true) return unconfirmed(look);
      this.chosen = true;
      await this.press(look, by === 'digit' ? String(this.answer.choice) : 'Enter');
      const went = await this.after(CHOOSE_AGAIN_MS * times, (now) => this.wanted(now) === null);
      if (went !== null && isChanged(dialog, went)) return unconfirmed(went);
      if (went !== null) return this.staysGone(went);
      if (this.target.clock.now() >= this.deadline) break;
    }
    return unconfirmed(await this.look());
  }

  /** The dialog went. Whether it was answered or is only being redrawn, no further key is pressed. */
  private async staysGone(first: Look): Promise<Answered> {
    for (let went: Look | null = first; went !== null;) {
      if (isPlain(went)) return ANSWERED;
      const back = await this.after(GONE_MS, (now) => this.wanted(now) !== null);
      if (back === null || this.wanted(back) === null)
        return isOpaque(back ?? went) ? unconfirmed(back ?? went) : ANSWERED;
      went = await this.after(OUTCOME_LIMIT_MS, (now) => this.wanted(now) === null);
    }
    return unconfirmed(await this.look());
  }

  /** The index of what is selected in our dialog; -1 when that cannot be seen. */
  private selected(look: Look): number {
    return this.wanted(look)?.choices.findIndex(({ selected }) => selected) ?? -1;
  }

  /** A dialog that came this instant is let stand: it may not take keys yet. */
  private async letStand(): Promise<void> {
    const { watcher, clock } = this.target;
    const { latest, latestSince } = watcher;
    const known = latest?.dialog?.promptHash === this.answer.promptHash;
    const young = known && latestSince !== null ? latestSince + YOUNG_MS - clock.now() : YOUNG_MS;
    if (young > 0) await this.after(young, (now) => this.wanted(now) === null && isPlain(now));
  }

  /** A look; when it shows half a redraw, one more a moment later. */
  private async steadyLook(): Promise<Look> {
    const look = await this.look();
    if (this.wanted(look) !== null || isPlain(look)) return look;
    return (await this.after(GONE_MS, (now) => this.wanted(now) !== null)) ?? this.look();
  }

  /** Waits until what is seen holds, at most `limitMs`; the look that showed it, or null. */
  private async after(limitMs: number, holds: (look: Look) => boolean): Promise<Look | null> {
    const { activity, clock } = this.target;
    const until = Math.min(this.deadline, clock.now() + limitMs);
    for (;;) {
      const since = activity.count;
      const look = await this.look();
      if (look.dead || this.target.ended() !== null || holds(look)) return look;
      if (clock.now() >= until) return null;
      await delay(clock, Math.min(LOOK_SPACING_MS, until - clock.now()));
      await activity.after(since, { clock, limitMs: until - clock.now() });
    }
  }

  private async press(look: Look, key: string): Promise<void> {
    const { view } = this.target;
    this.touched = true;
    // A mode would take the key away from the program.
    if (look.inMode) await view.leaveModes();
    await view.pressKey(key);
  }

  private wanted(look: Look): DialogReading | null {
    const { dialog } = look.reading;
    return dialog?.promptHash === this.answer.promptHash ? dialog : null;
  }

  private look(): Promise<Look> {
    return this.target.view.look();
  }
}

const ANSWERED: Answered = { outcome: 'answered', evidence: 'screen' };

/** It shows for sure that no dialog is in front, or no program is left to show one. */
function isPlain({ dead, reading }: Look): boolean {
  return dead || (reading.state !== 'unknown' && reading.state !== 'waiting');
}

/** It asks the same still, only its choices look different: the key was text, or a tick. */
function isChanged(before: DialogReading, { reading }: Look): boolean {
  return reading.dialog?.questionHash === before.questionHash;
}

/** Something waits there that cannot be read: it may be what was to be answered. */
function isOpaque({ reading }: Look): boolean {
  return reading.state === 'waiting' && reading.dialog === null;
}

function changed(look: Look): Answered {
  const { dialog } = look.reading;
  return {
    outcome: 'changed',
    shown: dialog === null ? null : { ...shownDialog(dialog), text: dialog.text },
  };
}

function unconfirmed(look: Look): Answered {
  return { outcome: 'unconfirmed', screen: shownText(look) };
}

function refused(reason: string): Answered {
  return { outcome: 'refused', reason };
}
