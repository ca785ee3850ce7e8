import type { EphemeralEvent, EventData, StoredEvent } from '../../core/events/index.js';
import type { LiveSession, SessionContext } from '../session-context.js';
import { attention, DRAFT_MS, type AttentionItem } from './attention.js';

/** Many events of one moment are one look. */
const GATHER_MS = 50;
const CONCERNS = /^(session|worker|run|message|question|permission)\./;

/**
 * Keeps an eye on what waits for somebody: tells `onChange` whenever it is another list than before, and calls whoever
 * looks when something new is on it. Does nothing while nothing happens, but for a draft that is being left behind.
 */
export function followAttention(
  session: SessionContext,
  live: LiveSession,
  onChange: (items: readonly AttentionItem[]) => void,
): () => void {
  const { store, sessionId, clock } = session;
  let known = new Set(attention(store, sessionId, clock.now()).map(keyOf));
  let cancelLook: (() => void) | null = null;
  const drafts = new Set<() => void>();

  const look = () => {
    cancelLook = null;
    const items = attention(store, sessionId, clock.now());
    const keys = new Set(items.map(keyOf));
    const isNews = [...keys].some((key) => !known.has(key));
    const isChange = isNews || keys.size !== known.size;
    known = keys;
    if (isChange) onChange(items);
    if (isNews) live.backend.bell().catch(() => undefined);
  };
  const lookSoon = () => (cancelLook ??= clock.after(GATHER_MS, look));
  const lookWhenLeft = () => {
    const cancel = clock.after(DRAFT_MS, () => {
      drafts.delete(cancel);
      lookSoon();
    });
    drafts.add(cancel);
  };
  const unsubscribe = store.subscribe(store.head(), (event) => {
    if (event.session_id !== sessionId || !CONCERNS.test(event.type)) return;
    lookSoon();
    if (isDraft(event)) lookWhenLeft();
  });
  return () => {
    unsubscribe();
    cancelLook?.();
    for (const cancel of drafts) cancel();
  };
}

/** The same item, also when more is known of it by now. */
function keyOf({ worker_id: worker, kind, since }: AttentionItem): string {
  return `${worker} ${kind} ${since}`;
}

function isDraft(event: StoredEvent | EphemeralEvent): boolean {
  if (event.type !== 'message.held') return false;
  return (event.data as EventData<'message.held'>).reason === 'human_draft';
}
