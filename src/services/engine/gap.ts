import type { EventName, StoredEvent } from '../../core/events/index.js';
import type { Spoken } from '../context/conversation-text.js';
import type { EngineDeps } from './deps.js';
import { isContext } from './instruct.js';
import type { NextDelivery } from './next-delivery.js';

type Deps = Pick<EngineDeps, 'store' | 'sessionId'>;

/** What the agent that is asked now does not know of what was said with its worker. */
interface Gap {
  /** Everything up to there is in the conversation that it goes on with; 0: it begins a new one. */
  readonly after: number;
  /** It knew that, and its conversation is lost; else others were asked instead. */
  readonly isLost: boolean;
}

const TURNS = ['thread.lost', 'worker.switched'] as const;

/** It has no conversation that anything was said in. */
export function beginsAnew(deps: Deps, workerId: string): boolean {
  return heardBy(deps, workerId).after === 0;
}

/** null: it knows all of it. */
export function gapOf(deps: Deps, workerId: string): Gap | null {
  // With most workers neither ever happens.
  if (eventsOf(deps, workerId, TURNS, 1).length === 0) return null;
  const { after, isLost, othersAfter } = heardBy(deps, workerId);
  return isLost || othersAfter ? { after, isLost } : null;
}

function heardBy(deps: Deps, workerId: string): Gap & { readonly othersAfter: boolean } {
  const agent = deps.store.worker(deps.sessionId, workerId)?.agent ?? '';
  const heard = new Map<string, number>();
  const lost = new Set<string>();
  for (const { event, by } of withAgents(deps, workerId, [...TURNS, 'message.started'])) {
    if (event.type === 'thread.lost') {
      lost.add(by);
      heard.delete(by);
    }
    if (event.type === 'message.started') {
      lost.delete(by);
      heard.set(by, event.seq);
    }
  }
  const after = heard.get(agent) ?? 0;
  const othersAfter = [...heard].some(([other, at]) => other !== agent && at > after);
  return { after, isLost: lost.has(agent), othersAfter };
}

/** What was said in the gap, in order, but for what is about to be said and what stands before that by itself. */
export function saidInGap(
  deps: Deps,
  workerId: string,
  gap: Gap,
  { next, known }: { next: NextDelivery; known: ReadonlySet<string> },
): Spoken[] {
  const agent = deps.store.worker(deps.sessionId, workerId)?.agent ?? '';
  const types = ['worker.switched', 'message.accepted', 'message.started', 'text.completed'] as const;
  // Whoever did not do it at last only has it in vain: one that is taken up twice was said once.
  const spoken = new Map<string, Spoken>();
  for (const { event, by } of withAgents(deps, workerId, types)) {
    const seq = event.seq;
    const isOwn = gap.after > 0 && by === agent;
    if (seq <= gap.after) continue;
    if (event.type === 'text.completed' && !isOwn)
      spoken.set(String(seq), { who: 'answer', text: event.data.text });
    if (event.type === 'message.accepted' && isContext(event.data.kind) && known.has(event.data.message_id))
      spoken.set(event.data.message_id, { who: event.data.kind, text: event.data.text });
    if (event.type !== 'message.started' || isOwn || next.messageIds.includes(event.data.message_id))
      continue;
    const message = deps.store.message(event.data.message_id);
    spoken.delete(event.data.message_id);
    if (message !== null) spoken.set(message.message_id, { who: 'instruction', text: message.text });
  }
  return [...spoken.values()];
}

/** Each with the agent that was asked then. */
function withAgents(deps: Deps, workerId: string, types: readonly EventName[]) {
  let by =
    firstSwitch(eventsOf(deps, workerId, ['worker.switched'], 1)) ??
    deps.store.worker(deps.sessionId, workerId)?.agent ??
    '';
  return eventsOf(deps, workerId, types).map((event) => {
    if (event.type === 'worker.switched') by = event.data.agent;
    return { event, by };
  });
}

function firstSwitch([event]: readonly StoredEvent[]): string | null {
  return event?.type === 'worker.switched' ? event.data.from : null;
}

function eventsOf(
  { store, sessionId }: Deps,
  workerId: string,
  types: readonly EventName[],
  limit?: number,
): StoredEvent[] {
  return store.events({ after: 0, sessionId, workerId, types, ...(limit === undefined ? {} : { limit }) });
}
