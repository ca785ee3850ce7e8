import type { WaitingKind } from '../../core/state/states.js';

/** Its words for what only a person can mend, on its screen and in its rollout file alike. */
export const QUOTA = /usage[ _]limit|quota|rate[ _]limit|too many requests|out of credits/i;
export const LOGIN = /unauthori[sz]ed|invalid api key|(log|sign) in again|not (logged|signed) in/i;

export function failureKind(text: string): WaitingKind | null {
  if (QUOTA.test(text)) return 'quota';
  return LOGIN.test(text) ? 'login' : null;
}
