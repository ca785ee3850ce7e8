import { OrchestratorError } from '../../core/errors/error.js';
import type { EphemeralEvent, StoredEvent } from '../../core/events/index.js';
import type { SessionRow } from '../../core/state/rows.js';
import type { Caller } from '../operation.js';
import { checkReach, isBelow, withAllBelow } from './children/lineage.js';
import { findConversation } from './conversation-row.js';
import type { Gateway } from './gateway.js';
import { eventView } from './views.js';

/** More than that in one stream is a mistake. */
const MOST_SESSIONS = 100;

export interface EventSelection {
  readonly sessions: readonly SessionRow[];
  /** The sessions that there are now; undefined: too many to be read one by one. */
  readonly only: () => readonly string[] | undefined;
  /** How an event stands on the wire; null: it is of another session. */
  view(event: StoredEvent | EphemeralEvent): unknown;
}

/**
 * The events of these conversations, and of all below them. Throws INVALID_INPUT, FORBIDDEN, SESSION_NOT_FOUND.
 */
export function selectEvents(
  { store }: Pick<Gateway, 'store'>,
  caller: Caller,
  { sessionIds, includeChildren }: { sessionIds: readonly string[]; includeChildren: boolean },
): EventSelection {
  const ids = [...new Set(sessionIds)];
  if (ids.length === 0 || ids.length > MOST_SESSIONS)
    throw new OrchestratorError('INVALID_INPUT', {
      field: 'sessionId',
      problem: `${ids.length === 0 ? 'none is' : 'too many are'} given`,
      hint: `name 1 to ${MOST_SESSIONS} sessions: ?sessionId=A&sessionId=B`,
    });
  for (const id of ids)
    checkReach(store, caller, { name: 'stream', reach: 'below', target: { session_id: id } });
  const sessions = ids.map((id) => findConversation(store, id));
  // Who is above a session never changes. Not by `child.spawned`: the child's first events stand before it.
  const known = new Map<string, boolean>(ids.map((id) => [id, true]));
  const isSelected = (id: string): boolean => {
    const before = known.get(id);
    if (before !== undefined) return before;
    const is = includeChildren && ids.some((above) => isBelow(store, id, above));
    known.set(id, is);
    return is;
  };
  return {
    sessions,
    only() {
      const all = includeChildren ? withAllBelow(store, ids, MOST_SESSIONS) : ids;
      return all.length > MOST_SESSIONS ? undefined : all;
    },
    view(event) {
      if (!isSelected(event.session_id)) return null;
      return event.seq === null ? event : eventView(event);
    },
  };
}
