import type { Delivery, EarlierDelivery, SendOptions } from '../contract.js';
import { holdsExactly, standsFor } from './composer-text.js';
import { submitPasted, unconfirmed } from './delivery.js';
import type { DeliveryText } from './delivery-text.js';
import { judge } from './gate.js';
import type { Look } from './pane-view.js';
import type { Reading } from './screen.js';
import type { SendTarget } from './send-target.js';
import { CANCELLED } from './sender.js';
import { undecorate } from '../../core/sentinels.js';
import { countPrompts } from './transcript.js';

/** A screen that stands still for so long without showing the text will not show it any more. */
const LOOK_FOR_MS = 3_000;

const SHOWN: Delivery = {
  outcome: 'submitted',
  evidence: 'screen',
  how: 'found after a restart: the composer is without it and the screen shows the prompt',
};

/**
 * Brings a text to an outcome that an earlier supervisor typed and did not live to see submitted. It is never typed
 * again: it is found in what the agent shows of the conversation, or submitted from the composer that still holds
 * exactly it, or reported as unconfirmed.
 */
export async function finishEarlier(
  target: SendTarget,
  content: DeliveryText,
  options: SendOptions & { readonly earlier: EarlierDelivery },
): Promise<Delivery> {
  const { watcher, view, clock, launch, ended } = target;
  let proof: Delivery | null = null;
  void options.confirmation?.then(
    (given) => {
      proof ??= { outcome: 'submitted', ...given };
      watcher.touch();
    },
    () => undefined,
  );
  let last: Look | null = null;
  let deadline: number | null = null;
  const look = async (): Promise<Delivery | null> => {
    last = (await view.look().catch(() => null)) ?? last;
    if (proof !== null) return proof;
    if (last === null || last.dead || ended() !== null) return unconfirmed(last);
    if (options.signal?.aborted === true) return CANCELLED;
    const { settled } = watcher;
    const stands = holdsIt(last, content);
    // A dialog, or the text itself, stands there: it is no question of time.
    if (last.reading.state === 'waiting' || stands) deadline = null;
    if (settled === null) return null;
    if (stands) {
      const open = isOpen(last, settled, { ready: watcher.ready, steers: launch.steers });
      return open ? submitStanding(target, content, { look: last, options }) : null;
    }
    if (showsIt(last, content.text, options.earlier.takenBefore)) return SHOWN;
    if (last.reading.state === 'waiting') return null;
    deadline ??= clock.now() + LOOK_FOR_MS;
    return clock.now() >= deadline ? unconfirmed(last) : null;
  };
  for (;;) {
    const since = watcher.readings.count;
    const outcome = await target.atTheKeys(look);
    if (outcome !== null) return outcome;
    const limitMs = deadline === null ? null : Math.max(0, deadline - clock.now());
    await watcher.readings.after(since, { clock, limitMs, signal: options.signal });
  }
}

/** The text stands in the composer, typed by somebody before us: submits it with the submit key alone. */
export function submitStanding(
  target: SendTarget,
  content: DeliveryText,
  { look, options }: { look: Look; options: SendOptions },
): Promise<Delivery> {
  const since = target.activity.count;
  target.watcher.unsettle();
  return submitPasted(
    { ...target, hasEnded: () => target.ended() !== null },
    { content, before: look, since },
    options,
  ).finally(() => target.watcher.unsettle());
}

export function holdsIt(look: Look, content: DeliveryText): boolean {
  const { composer } = look.reading;
  return composer !== null && holdsExactly(composer.text, content.text);
}

/** Whether the submit key may be pressed, given that what stands in the composer is ours. */
function isOpen(look: Look, settled: Reading, facts: { ready: boolean; steers: boolean }): boolean {
  const emptied = (reading: Reading): Reading => ({
    ...reading,
    composer: reading.composer === null ? null : { text: '' },
  });
  const verdict = judge({
    look: { ...look, reading: emptied(look.reading) },
    settled: emptied(settled),
    ...facts,
  });
  return verdict.is === 'open';
}

/** Only what the agent shows of the conversation counts, in its words or as its stand-in, not what is in its composer. */
function showsIt(look: Look, text: string, takenBefore: number): boolean {
  if (look.reading.state === 'unknown') return false;
  const composer = (look.reading.composer?.text ?? '').split('\n');
  const { rows } = look.screen;
  const standIns = (lines: readonly string[]) =>
    lines.filter((line) => standsFor(undecorate(line), text)).length;
  return (
    countPrompts(rows, text) - countPrompts(composer, text) > takenBefore ||
    standIns(rows) - standIns(composer) > takenBefore
  );
}
