import { withConversation, type Spoken } from '../context/conversation-text.js';
import type { EngineDeps } from './deps.js';
import type { NextDelivery } from './next-delivery.js';

/** Where the agent begins a new conversation although the worker has had one, it is told what was said in that. */
export function inConversation(deps: EngineDeps, workerId: string, next: NextDelivery): NextDelivery {
  return beginsAnew(deps, workerId) ? withSpoken(deps, workerId, next) : next;
}

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
  return events.flatMap((event): Spoken[] => {
    if (event.type === 'text.completed') return [{ who: 'answer', text: event.data.text }];
    if (event.type !== 'message.accepted' || next.messageIds.includes(event.data.message_id)) return [];
    const startedAt = deps.store.message(event.data.message_id)?.started_at ?? null;
    return startedAt === null ? [] : [{ who: 'instruction', text: event.data.text }];
  });
}
