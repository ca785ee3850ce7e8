import fc from 'fast-check';
import { EVENTS, type EventName, type NewEvent } from '../../src/core/events/index.js';
import { TERMINAL_EVENTS } from '../../src/core/state/fold-run.js';
import { EVIDENCE } from '../../src/core/state/states.js';
import { arbitraryOf } from './arbitrary-schema.js';

const SESSIONS = ['00000001', '00000002'];
const WORKERS = ['lead', 'w01'];
const pick = <T>(...values: T[]) => fc.constantFrom(...values);

/** Fields that tie events together: few values, so that events meet in the same rows. */
const IDS: Readonly<Record<string, readonly string[]>> = {
  message_id: ['m1', 'm2', 'm3'],
  attempt_id: ['a1', 'a2'],
  verify_id: ['v1', 'v2'],
  worker: ['w01', 'w09'],
};

const NAMES = (Object.keys(EVENTS) as EventName[]).filter((name) => EVENTS[name].durable);

/** One event of any durable type about any of the few sessions, workers and runs; not yet one that could happen next. */
const arbitraryEvent: fc.Arbitrary<NewEvent> = fc
  .oneof(
    { weight: 1, arbitrary: fc.constantFrom(...NAMES) },
    { weight: 1, arbitrary: pick<EventName>(...startNames()) },
  )
  .chain((type) =>
    fc
      .record({
        session_id: pick(...SESSIONS),
        worker_id: pick(...WORKERS),
        run: pick(1, 2),
        evidence: fc.constantFrom(...EVIDENCE),
        data: arbitraryOf(EVENTS[type].data, (field) => IDS[field]),
      })
      .map(({ session_id, worker_id, run, evidence, data }) => {
        const scope = `${session_id}/${worker_id}`;
        return {
          type,
          session_id,
          worker_id,
          run_id: `${scope}/r${run}`,
          source: 'supervisor',
          evidence,
          data: scoped(data as Record<string, unknown>, scope),
        } as unknown as NewEvent;
      }),
  );

/** Valid histories: what a row needs has happened before, and nothing is created or ended twice. */
export function arbitraryHistory(maxLength: number): fc.Arbitrary<NewEvent[]> {
  return fc.array(arbitraryEvent, { minLength: 1, maxLength, size: 'max' }).map((events) => {
    const happened = new Set<string>();
    const prelude = SESSIONS.flatMap((session_id) => creation(session_id));
    return [...prelude, ...events].filter((event) => canHappen(event, happened));
  });
}

function startNames(): EventName[] {
  return [
    'run.queued',
    'run.started',
    'message.accepted',
    'verify.started',
    ...(Object.keys(TERMINAL_EVENTS) as EventName[]),
  ];
}

function creation(session_id: string): NewEvent[] {
  const event = (type: EventName, worker_id: string) => {
    const [data] = fc.sample(
      arbitraryOf(EVENTS[type].data, () => undefined),
      { numRuns: 1, seed: 7 },
    );
    return { type, session_id, worker_id, source: 'cli', evidence: 'protocol', data } as unknown as NewEvent;
  };
  return [event('session.created', 'lead'), ...WORKERS.map((worker) => event('worker.created', worker))];
}

function canHappen(event: NewEvent, happened: Set<string>): boolean {
  const once = onceOnly(event);
  if (once === null) return true;
  if (happened.has(once)) return false;
  happened.add(once);
  return true;
}

/** What of this event may happen only once, if anything. */
function onceOnly(event: NewEvent): string | null {
  if (event.type === 'session.created') return `session ${event.session_id}`;
  if (event.type === 'worker.created') return `worker ${event.session_id} ${event.worker_id}`;
  if (event.type === 'run.queued') return `queued ${event.run_id}`;
  if (event.type in TERMINAL_EVENTS) return `ended ${event.run_id}`;
  if (event.type === 'message.accepted') return `message ${event.data.message_id}`;
  return null;
}

function scoped(data: Record<string, unknown>, scope: string): Record<string, unknown> {
  const ids = ['message_id', 'attempt_id', 'verify_id'].filter((field) => typeof data[field] === 'string');
  return { ...data, ...Object.fromEntries(ids.map((field) => [field, `${scope}/${String(data[field])}`])) };
}
