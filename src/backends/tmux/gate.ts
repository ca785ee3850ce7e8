import type { HeldReason } from '../contract.js';
import type { Look } from './pane-view.js';
import type { Reading } from './screen.js';

/** `settling`: nothing is in the way, but the screen has not stood long enough to be believed. */
export type Verdict =
  | { readonly is: 'open' | 'settling' }
  | { readonly is: 'held'; readonly reason: HeldReason }
  | { readonly is: 'refused'; readonly reason: string };

export interface GateView {
  /** Fresh: what is typed next meets this very screen. */
  readonly look: Look;
  /** What is believed of the screen; null while it changes. */
  readonly settled: Reading | null;
  readonly ready: boolean;
  readonly steers: boolean;
}

/** Whether text may be typed into the pane now. Whatever cannot be told for sure is held. */
export function judge({ look, settled, ready, steers }: GateView): Verdict {
  if (look.dead) return { is: 'refused', reason: 'its program has ended' };
  if (look.inputOff) return { is: 'refused', reason: "somebody switched the pane's input off" };
  if (look.inMode) return { is: 'held', reason: 'copy_mode' };
  const reason =
    judgeReading(look.reading, steers) ?? (settled === null ? null : judgeReading(settled, steers));
  if (!ready && (reason === null || reason === 'unknown_screen')) return { is: 'held', reason: 'not_ready' };
  if (reason !== null) return { is: 'held', reason };
  return { is: settled === null ? 'settling' : 'open' };
}

function judgeReading({ state, composer }: Reading, steers: boolean): HeldReason | null {
  if (state === 'waiting') return 'dialog';
  if (state === 'working' && !steers) return 'working';
  if (state === 'unknown' || composer === null) return 'unknown_screen';
  return composer.text.trim() === '' ? null : 'human_draft';
}
