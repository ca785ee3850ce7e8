import { randomUUID } from 'node:crypto';
import type { NewEvent } from '../../src/core/events/index.js';
import type { Store } from '../../src/store/contract.js';
import { sampleEvent } from './sample-events.js';

const EVENTS_AROUND = 4;
const AT_ONCE = 5_000;

export interface Many {
  readonly sessions: number;
  /** In all; a tenth of them in the first session. */
  readonly runs: number;
  /** In the first session. */
  readonly events: number;
}

/** What is asked of the gateway again and again, as addresses. */
type Place = (at: { session: string; run: string }, head: number) => string;

export const PAGES: readonly (readonly [string, Place])[] = [
  ['the newest sessions', () => '/sessions?limit=10'],
  ['a session', ({ session }) => `/sessions/${session}`],
  ['a run', ({ run }) => `/runs/${run}`],
  ['its first events', ({ session }) => `/sessions/${session}/events?limit=20`],
  ['its newest events', ({ session }, head) => `/sessions/${session}/events?limit=20&cursor=${head - 20}`],
  ['events that most are', ({ session }) => `/sessions/${session}/events?limit=9&types=text.completed`],
  ['events that none are', ({ session }) => `/sessions/${session}/events?types=child.spawned`],
];

/** Conversations that are over, written as an engine would. Returns the session with most in it, and its last run. */
export function addConversations(store: Store, many: Many): { session: string; run: string } {
  const ids = Array.from({ length: many.sessions }, (_, index) => (0xa0000000 + index).toString(16));
  const [first = ''] = ids;
  const inFirst = Math.max(1, Math.floor(many.runs / 10));
  const said = Math.floor(many.events / inFirst) - EVENTS_AROUND;
  let run = '';
  const events = ids.flatMap(conversation);
  for (let index = 0; index < many.runs - inFirst; index++)
    events.push(...oneRun(ids[1 + (index % Math.max(1, ids.length - 1))] ?? first, 3).events);
  for (let index = 0; index < inFirst; index++) {
    const made = oneRun(first, said);
    events.push(...made.events);
    run = made.run;
  }
  for (let at = 0; at < events.length; at += AT_ONCE) {
    const some = events.slice(at, at + AT_ONCE);
    store.transaction((tx) => void tx.append(...some));
  }
  return { session: first, run };
}

function conversation(session_id: string): NewEvent[] {
  const options = { permissions: 'agent', metadata: {}, parent: null, depth: 0 };
  return [
    sampleEvent('session.created', { kind: 'conversation', options }, { session_id }),
    sampleEvent('worker.created', { perspective: 'conversation', backend: 'headless' }, { session_id }),
  ];
}

function oneRun(session_id: string, said: number): { run: string; events: NewEvent[] } {
  const run = randomUUID();
  const subject = { session_id, run_id: run };
  const message_id = `message-${run}`;
  const text = 'a line of what an agent says while it works on something '.repeat(3);
  return {
    run,
    events: [
      sampleEvent('message.accepted', { message_id }, subject),
      sampleEvent('run.queued', { message_id }, subject),
      sampleEvent('run.started', { attempt_id: `attempt-${run}` }, subject),
      ...Array.from({ length: said }, () => sampleEvent('text.completed', { text }, subject)),
      sampleEvent('run.succeeded', {}, subject),
    ],
  };
}

/** The middle of what each of these takes, ms; taken in turns, so that whatever else runs meets all of them alike. */
export async function medians(tasks: readonly (() => Promise<unknown>)[], times: number): Promise<number[]> {
  const taken = tasks.map((): number[] => []);
  for (let round = 0; round <= times; round++)
    for (const [index, task] of tasks.entries()) {
      const began = performance.now();
      await task();
      // The first one of each also loads what all need.
      if (round > 0) taken[index]?.push(performance.now() - began);
    }
  return taken.map((all) => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? NaN);
}
