/** One side's word in a conversation. */
export interface Spoken {
  readonly who: 'instruction' | 'answer' | 'system' | 'assistant';
  readonly text: string;
}

/** Of what was said before; the newest is what the next turn most likely goes on from. */
const MOST_CHARACTERS = 40_000;
const LONGEST_ONE = 8_000;

export const OWN_LOST =
  'You worked on this before in a conversation that is not there any more. What was said then, for your information only:';
export const WITH_OTHERS =
  'Another agent was asked in this conversation before you. What was said with it, for your information only:';
export const MEANWHILE =
  'Another agent was asked in this conversation since you were last. What was said with it, for your information only:';

/**
 * A new instruction for an agent that does not know all of its conversation: why (`lead`), what was said, as data, then
 * the instruction itself.
 */
export function withConversation(lead: string, spoken: readonly Spoken[], text: string): string {
  const kept: string[] = [];
  let left = MOST_CHARACTERS;
  for (const { who, text: said } of spoken.toReversed()) {
    const line = `[${who}]\n${said.length > LONGEST_ONE ? `${said.slice(0, LONGEST_ONE)}…` : said}`;
    if (line.length > left) break;
    left -= line.length;
    kept.unshift(line);
  }
  if (kept.length === 0) return text;
  return [
    lead,
    '<conversation>',
    ...kept,
    '</conversation>',
    'Look at what is done already. Your instruction now:',
    text,
  ].join('\n');
}

/** An instruction with what was put into the conversation before it, whole: its text is a message of its own. */
export function withSaidBefore(spoken: readonly Spoken[], text: string): string {
  if (spoken.length === 0) return text;
  return [
    'Put into this conversation before your instruction:',
    '<context>',
    ...spoken.map(({ who, text: said }) => `[${who}]\n${said}`),
    '</context>',
    'Your instruction:',
    text,
  ].join('\n');
}
