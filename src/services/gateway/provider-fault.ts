import type { FaultOfAgent } from '../engine/deps.js';

/** What a run may fail by that lies with its provider, as diagnosis names it; found by code, else by the words of it. */
export const PROVIDER_FAULTS = {
  provider_not_found: {
    codes: ['NO_AGENTS', 'AGENT_OPTION_MISSING', 'UNKNOWN_AGENT', 'AGENT_NOT_LAUNCHABLE'],
    words: /was found on PATH|ENOENT|command not found|exit(ed)?( with)?( status)? 127\b/i,
  },
  provider_auth: {
    codes: ['AGENT_KEY_MISSING'],
    words:
      /\b401\b|unauthori[sz]ed|not logged in|log ?in\b|invalid.{0,20}api.?key|api.?key|authenticat|not accept the key/i,
  },
  rate_limited: {
    codes: [],
    words: /\b429\b|rate.?limit|quota|overloaded|too many requests|usage limit/i,
  },
} as const satisfies Record<string, { codes: readonly string[]; words: RegExp }>;

export type ProviderFault = keyof typeof PROVIDER_FAULTS;

export function isFault(fault: ProviderFault, failed: { code: string | null; words: string }): boolean {
  const { codes, words } = PROVIDER_FAULTS[fault];
  return codes.some((code) => code === failed.code) || words.test(failed.words);
}

/** A model whose address does not answer is not there either. */
const UNREACHABLE = /could not be asked, in \d+ tries/;

/** Another provider may do better: this one is not there, does not know who asks, or takes no more for now. */
export function isProvidersFault({ code, reason, kind }: FaultOfAgent): boolean {
  if (kind === 'login' || kind === 'quota' || UNREACHABLE.test(reason)) return true;
  const faults = Object.keys(PROVIDER_FAULTS) as ProviderFault[];
  return faults.some((fault) => isFault(fault, { code, words: reason }));
}
