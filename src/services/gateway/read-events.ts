import { EVENTS, type EventName, type StoredEvent } from '../../core/events/index.js';
import { OrchestratorError } from '../../core/errors/error.js';
import { findConversation } from './conversation-row.js';
import type { Gateway } from './gateway.js';

export interface EventsRequest {
  readonly session_id: string;
  readonly cursor?: string | undefined;
  readonly limit: number;
  readonly types: readonly string[];
  readonly run_id?: string | undefined;
  readonly waitMs: number;
}

export interface EventPage {
  readonly events: readonly StoredEvent[];
  readonly nextCursor: string;
  readonly hasMore: boolean;
}

/** Throws INVALID_CURSOR for what no answer ever held. */
export function cursorOf({ store }: Pick<Gateway, 'store'>, given: string | undefined): number {
  const head = store.head();
  if (given === undefined) return 0;
  if (given === 'latest') return head;
  const cursor = /^\d{1,15}$/.test(given) ? Number(given) : -1;
  if (cursor >= 0 && cursor <= head) return cursor;
  throw new OrchestratorError('INVALID_CURSOR', {
    cursor: given,
    valid: `the newest is ${head}`,
  });
}

/** One page after the cursor; with `waitMs` it waits for the first event where there is none yet. */
export async function readEvents(
  gateway: Gateway,
  request: EventsRequest,
  signal: AbortSignal,
): Promise<EventPage> {
  const { store } = gateway;
  findConversation(store, request.session_id);
  const types = request.types.map(eventName);
  const after = cursorOf(gateway, request.cursor);
  const look = () =>
    store.events({
      ...{ after, sessionId: request.session_id, limit: request.limit + 1 },
      ...(types.length === 0 ? {} : { types }),
      ...(request.run_id === undefined ? {} : { runId: request.run_id }),
    });
  let found = look();
  if (found.length === 0 && request.waitMs > 0) {
    await untilSomething(gateway, request, () => look().length > 0, signal);
    found = look();
  }
  const events = found.slice(0, request.limit);
  return {
    events,
    nextCursor: String(events.at(-1)?.seq ?? after),
    hasMore: found.length > request.limit,
  };
}

function untilSomething(
  { store, clock }: Gateway,
  { session_id: sessionId, waitMs }: EventsRequest,
  isThere: () => boolean,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      unsubscribe();
      cancel();
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const cancel = clock.after(waitMs, finish);
    const unsubscribe = store.subscribe(store.head(), (event) => {
      if (event.session_id === sessionId && event.seq !== null && isThere()) finish();
    });
    signal.addEventListener('abort', finish, { once: true });
    if (isThere() || signal.aborted) finish();
  });
}

function eventName(given: string): EventName {
  if (given in EVENTS) return given as EventName;
  throw new OrchestratorError('INVALID_INPUT', {
    field: 'types',
    problem: `"${given}" is no event`,
    hint: 'every event is in docs/reference/events.md',
  });
}
