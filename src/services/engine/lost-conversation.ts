import { isPerTurn } from '../../core/state/states.js';
import { withConversation, type Spoken } from '../context/conversation-text.js';
import type { EngineDeps } from './deps.js';
import type { NextDelivery } from './next-delivery.js';

/** Where the agent begins a new conversation although the worker has had one, it is told what was said in that. */
export function inConversation(deps: EngineDeps, workerId: string, next: NextDelivery): NextDelivery {
  const { store, sessionId } = deps;
  const worker = store.worker(sessionId, workerId);
  if (worker === null || !isPerTurn(worker) || worker.thread_id !== null) return next;
  const lost = store.events({ after: 0, sessionId, workerId, types: ['thread.lost'], limit: 1 });
  if (lost.length === 0) return next;
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
    const answeredAt = deps.store.message(event.data.message_id)?.answered_at ?? null;
    return answeredAt === null ? [] : [{ who: 'instruction', text: event.data.text }];
  });
}
