import { expect, it } from 'vitest';
import { selectEvents } from '../../../../src/services/gateway/event-selection.js';
import type { Caller } from '../../../../src/services/operation.js';
import type { Store } from '../../../../src/store/contract.js';

const ADMIN = { scope: 'admin' } as Caller;

/** Sessions by name, each with those that it spawned. */
function storeOf(children: Readonly<Record<string, readonly string[]>>): Store {
  return {
    session: (session_id: string) => ({ session_id, kind: 'conversation' }),
    events: ({ sessionId = '' }) => (children[sessionId] ?? []).map((child) => ({ data: { child } })),
  } as unknown as Store;
}

const read = (store: Store, sessionIds: string[], includeChildren: boolean) =>
  selectEvents({ store }, ADMIN, { sessionIds, includeChildren }).only();

it('reads the log of what is selected, and of nothing else', () => {
  const children: Record<string, string[]> = { a: ['b', 'c'], c: ['d'], x: ['y'] };
  const store = storeOf(children);
  expect(read(store, ['a', 'x', 'a'], false)).toEqual(['a', 'x']);
  expect(read(store, ['a'], true)).toEqual(['a', 'b', 'c', 'd']);
  // A child of now, though the stream began before.
  const { only } = selectEvents({ store }, ADMIN, { sessionIds: ['a'], includeChildren: true });
  children['d'] = ['e'];
  expect(only()).toEqual(['a', 'b', 'c', 'd', 'e']);
});

it('reads the whole log rather than more than 100 sessions one by one', () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => `child-${index}`);
  expect(read(storeOf({ a: many(99) }), ['a'], true)).toHaveLength(100);
  expect(read(storeOf({ a: many(100) }), ['a'], true)).toBeUndefined();
});
