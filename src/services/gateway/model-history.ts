import type { ModelMessage } from '../../llm/contract.js';
import type { Reader } from '../../store/contract.js';

/** The oldest words are left out beyond this: what a model takes is bounded, and so is what each turn costs. */
const MOST_CHARACTERS = 400_000;

/**
 * What was said in a conversation with a model, which remembers nothing by itself; what is about to be said is not in it.
 * Begins with somebody who asks, and the two sides take turns.
 */
export function modelHistory(reader: Reader, sessionId: string, workerId: string): ModelMessage[] {
  const events = reader.events({
    ...{ after: 0, sessionId, workerId },
    types: ['message.accepted', 'text.completed'],
  });
  const said = events.flatMap((event): ModelMessage[] => {
    if (event.type === 'text.completed') return [{ role: 'assistant', text: event.data.text }];
    const { kind, text, message_id: id } = event.data;
    if (kind === 'assistant') return [{ role: 'assistant', text }];
    const message = reader.message(id);
    const isSaid = message?.state === 'answered' || message?.state === 'started' || kind === 'system';
    return isSaid ? [{ role: 'user', text }] : [];
  });
  return inTurns(newest(said));
}

function newest(said: readonly ModelMessage[]): ModelMessage[] {
  let left = MOST_CHARACTERS;
  const from = said.findLastIndex(({ text }) => (left -= text.length) < 0) + 1;
  return said.slice(from);
}

function inTurns(said: readonly ModelMessage[]): ModelMessage[] {
  const turns: ModelMessage[] = [];
  for (const one of said) {
    const last = turns.at(-1);
    if (last === undefined && one.role === 'assistant') continue;
    if (last?.role === one.role) turns.splice(-1, 1, { ...last, text: `${last.text}\n\n${one.text}` });
    else turns.push(one);
  }
  return turns;
}
