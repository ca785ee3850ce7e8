import { withConversation, withSaidBefore, type Spoken } from '../context/conversation-text.js';
import type { MessageRow } from '../../core/state/rows.js';
import type { EngineDeps } from './deps.js';
import { isContext } from './instruct.js';
import type { NextDelivery } from './next-delivery.js';

/**
 * An instruction as its agent gets it: with what was put into the conversation before it, and, where the agent begins a
 * new conversation although the worker has had one, with what was said in that. It follows from the rows alone, so that
 * the same message is the same text in every attempt.
 */
export function inConversation(deps: EngineDeps, workerId: string, next: NextDelivery): NextDelivery {
  const withContext = { ...next, text: withSaidBefore(saidBefore(deps, workerId, next), next.text) };
  return beginsAnew(deps, workerId) ? withSpoken(deps, workerId, withContext) : withContext;
}

/** Since the last instruction that began a turn: what went with it is known to the agent. */
function saidBefore(deps: EngineDeps, workerId: string, next: NextDelivery): Spoken[] {
  return earlier(deps, workerId, next).unknown.flatMap(({ kind, text }) =>
    isContext(kind) ? [{ who: kind, text }] : [],
  );
}

/** What came before an instruction: what went with one that began a turn, and what came after that. */
function earlier(
  { store, sessionId }: EngineDeps,
  workerId: string,
  { messageIds: [first], rearms }: NextDelivery,
): { readonly known: readonly MessageRow[]; readonly unknown: readonly MessageRow[] } {
  const messages = store.messages(sessionId, workerId);
  const at = messages.findIndex(({ message_id: id }) => id === first);
  const before = messages.slice(0, Math.max(0, at));
  const from = before.findLastIndex((message) => isInstruction(message) && message.started_at !== null) + 1;
  return { known: before.slice(0, from), unknown: rearms ? before.slice(from) : [] };
}

const isInstruction = ({ kind }: MessageRow) => kind === 'task' || kind === 'follow_up';

/** Nothing was said to it since its conversation was lost. */
export function beginsAnew(
  { store, sessionId }: Pick<EngineDeps, 'store' | 'sessionId'>,
  workerId: string,
): boolean {
  const filter = { after: 0, sessionId, workerId, limit: 100_000 };
  const lost = store.events({ ...filter, types: ['thread.lost'] }).at(-1);
  if (lost === undefined) return false;
  return store.events({ ...filter, after: lost.seq ?? 0, types: ['message.started'] }).length === 0;
}

function withSpoken(deps: EngineDeps, workerId: string, next: NextDelivery): NextDelivery {
  return { ...next, text: withConversation(spokenTo(deps, workerId, next), next.text) };
}

function spokenTo(deps: EngineDeps, workerId: string, next: NextDelivery): Spoken[] {
  const events = deps.store.events({
    after: 0,
    sessionId: deps.sessionId,
    workerId,
    types: ['message.accepted', 'text.completed'],
    limit: 100_000,
  });
  const known = new Set(earlier(deps, workerId, next).known.map(({ message_id: id }) => id));
  return events.flatMap((event): Spoken[] => {
    if (event.type === 'text.completed') return [{ who: 'answer', text: event.data.text }];
    if (event.type !== 'message.accepted' || next.messageIds.includes(event.data.message_id)) return [];
    const { kind, message_id: id, text } = event.data;
    // What came since the last instruction stands before this one by itself.
    if (isContext(kind)) return known.has(id) ? [{ who: kind, text }] : [];
    const startedAt = deps.store.message(event.data.message_id)?.started_at ?? null;
    return startedAt === null ? [] : [{ who: 'instruction', text: event.data.text }];
  });
}
