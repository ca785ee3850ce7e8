import type { WaitingKind } from '../../../core/state/states.js';

const NEEDS_LOGIN =
  /not logged in|please run \/login|log ?in again|invalid api key|unauthori[sz]ed|authentication|\b401\b/i;
const NEEDS_MONEY = /rate.?limit|usage limit|quota|credit balance|billing|too many requests|\b429\b/i;

/** What only a person can mend, by the words of a failure: for formats and programs that give no code for it. */
export function kindOfFailure(text: string): WaitingKind | null {
  if (NEEDS_LOGIN.test(text)) return 'login';
  return NEEDS_MONEY.test(text) ? 'quota' : null;
}
