import { EXIT } from '../../core/errors/categories.js';
import { toOrchestratorError } from '../../core/errors/error.js';
import type { FlagRows } from '../shared/flag-row.js';
import { seconds, usage, type Given, type Options } from './arguments.js';
import type { AgentctlHost } from './host.js';
import { printEvent } from './output.js';
import { Absence } from './patient.js';

export const TAIL_FLAGS = {
  'session-id': { type: 'string', value: 'ID', summary: 'of this session' },
  cursor: { type: 'string', value: 'C', summary: 'those after it (0: all; latest: only new ones)' },
  limit: { type: 'string', value: 'N', summary: 'how many of the last ones, without a cursor (20)' },
  type: { type: 'string', multiple: true, value: 'NAME', summary: 'only these; may be repeated' },
  types: { type: 'string', multiple: true, value: 'A,B', summary: 'the same, with commas' },
  'run-id': { type: 'string', value: 'ID', summary: 'only of this run' },
  follow: {
    ...{ type: 'boolean', short: 'f' },
    summary: 'go on with what comes, over restarts of the daemon, without gap or repetition',
  },
  'until-idle': { type: 'boolean', summary: 'go on until no run of the session is left' },
} as const satisfies FlagRows;

const PAGE = 1_000;
const WAIT_S = 60;
const LAST = 20;

interface Page {
  readonly events: readonly Record<string, unknown>[];
  readonly next_cursor: string;
  readonly has_more: boolean;
}

/**
 * Prints events, a line each: the last of them or those after a cursor, and with --follow what comes, over restarts of
 * the daemon: each time from the cursor of the last one printed, so that none comes twice and none is left out.
 */
export async function tailEvents(host: AgentctlHost, given: Given, options: Options): Promise<number> {
  const reader = readerOf(host, given, options);
  const last = given.values['limit'] === undefined ? LAST : seconds('limit', String(given.values['limit']));
  const cursor = given.values['cursor'];
  let at: string;
  if (typeof cursor === 'string') at = cursor;
  else {
    const { events, next } = await lastOf(reader, last);
    for (const event of events) printEvent(host, event, options);
    at = next;
  }
  const untilIdle = given.values['until-idle'] === true;
  if (given.values['follow'] !== true && !untilIdle) {
    if (typeof cursor === 'string')
      for await (const event of toEnd(reader, at)) printEvent(host, event, options);
    return EXIT.ok;
  }
  const signal = host.interrupted();
  const wasReached = typeof cursor !== 'string';
  const following = { at, wasReached, untilIdle, signal, quiet: options.quiet };
  for await (const event of follow(host, reader, following)) printEvent(host, event, options);
  return EXIT.ok;
}

interface EventReader {
  page(cursor: string | null, waitS: number, signal?: AbortSignal): Promise<Page>;
  isIdle(): Promise<boolean>;
}

function readerOf(host: AgentctlHost, given: Given, { target, limitMs }: Options): EventReader {
  const text = (flag: string) => {
    const value = given.values[flag];
    return typeof value === 'string' ? value : undefined;
  };
  const session =
    text('session-id') ??
    given.positionals[0] ??
    host.env['AGENTORCHESTR_SESSION_ID'] ??
    host.env['AGENTORCHESTR_SESSION'];
  if (session === undefined || given.positionals.length > 1)
    throw usage('events tail takes one session', 'write agentctl events tail SESSION_ID --follow');
  const path = `/sessions/${encodeURIComponent(session)}`;
  const types = [given.values['type'] ?? [], given.values['types'] ?? []]
    .flat()
    .flatMap((one) => String(one).split(','));
  const limit = limitMs === null ? {} : { limitMs };
  return {
    async page(cursor, waitS, signal) {
      const search = new URLSearchParams({ limit: String(PAGE) });
      if (cursor !== null) search.set('cursor', cursor);
      if (waitS > 0) search.set('wait_s', String(waitS));
      const run = text('run-id');
      if (run !== undefined) search.set('run_id', run);
      for (const type of types) search.append('types', type);
      const whole = { method: 'GET', path: `${path}/events?${search.toString()}` } as const;
      const rest = waitS > 0 ? {} : limit;
      const page = await host.call(target, {
        ...whole,
        ...rest,
        ...(signal === undefined ? {} : { signal }),
      });
      return page as unknown as Page;
    },
    async isIdle() {
      const { session: now } = await host.call(target, { method: 'GET', path, ...limit });
      return (now as { state?: string }).state !== 'active';
    },
  };
}

/** Whoever is far behind reads page by page: the log has no other end to begin at. */
async function lastOf(reader: EventReader, most: number) {
  let events: Record<string, unknown>[] = [];
  let cursor: string | null = null;
  for (let more = true; more;) {
    const page: Page = await reader.page(cursor, 0);
    events = most === 0 ? [] : [...events, ...page.events].slice(-most);
    [cursor, more] = [page.next_cursor, page.has_more];
  }
  return { events, next: cursor ?? '0' };
}

async function* toEnd(reader: EventReader, from: string) {
  let [cursor, more] = [from, true];
  while (more) {
    const page = await reader.page(cursor, 0);
    yield* page.events;
    [cursor, more] = [page.next_cursor, page.has_more];
  }
}

interface Following {
  readonly at: string;
  /** It has answered before. */
  readonly wasReached: boolean;
  readonly untilIdle: boolean;
  readonly signal: AbortSignal;
  readonly quiet: boolean;
}

async function* follow(
  host: AgentctlHost,
  reader: EventReader,
  { at, wasReached, untilIdle, signal, quiet }: Following,
) {
  let cursor = at;
  const absence = new Absence(host, quiet);
  let reached = wasReached;
  while (!signal.aborted) {
    try {
      // Asked before the page is read: what was said until then is in the page.
      const isIdle = untilIdle && (await reader.isIdle());
      const page = await reader.page(cursor, isIdle ? 0 : WAIT_S, signal);
      absence.over(`going on after ${cursor}`);
      reached = true;
      yield* page.events;
      cursor = page.next_cursor;
      if (isIdle && !page.has_more) return;
    } catch (error) {
      if (signal.aborted) return;
      const { category, params } = toOrchestratorError(error);
      reached ||= params['was_there'] === true;
      if (!reached || category !== 'unavailable') throw error;
      await absence.pause(signal);
    }
  }
}
