import type { HookFact, TranscriptRules } from '../../agents/contract.js';
import { linesFromEnd } from '../../platform/tail.js';

/** Of a transcript that may be huge no more is read than this; what is older was told by hooks long ago. */
const LIMITS = { bytes: 32 * 1024 * 1024, lineBytes: 8 * 1024 * 1024 };

/** What an agent's transcript says, oldest first, from the newest prompt that `isKnown` on (that one included). */
export async function missedFacts(
  rules: TranscriptRules,
  path: string,
  isKnown: (prompt: string) => boolean,
): Promise<readonly HookFact[]> {
  const newestFirst: HookFact[] = [];
  for await (const line of linesFromEnd(path, LIMITS)) {
    const said = rules.facts(line);
    newestFirst.push(...said.toReversed());
    if (said.some((one) => one.fact === 'prompt_submitted' && isKnown(one.text))) break;
  }
  return newestFirst.toReversed();
}
