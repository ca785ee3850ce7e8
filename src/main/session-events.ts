import { delay } from '../core/clock.js';
import type { StoredEvent } from '../core/events/index.js';
import { systemClock } from '../platform/clock.js';
import { isSameProcessAlive } from '../platform/identity.js';
import { ConnectionLost } from '../platform/http-client.js';
import { resolvePaths, sessionDataDirectory } from '../platform/paths.js';
import type { Store } from '../store/contract.js';
import { withStore } from './cli-sessions.js';
import { serverOf, streamSupervisor } from './session-client.js';
import { readControl } from './session-control.js';

type Environment = Readonly<Record<string, string | undefined>>;

const PAGE = 500;
const PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

/**
 * A session's durable events after `after`, each once and in order: first those of the log, then (with `follow`) those
 * that its supervisor streams, over reconnects, until the session is over or nobody is left who could change it.
 */
export async function* sessionEvents(
  env: Environment,
  sessionId: string,
  options: { after: number; follow: boolean; signal: AbortSignal },
): AsyncGenerator<StoredEvent> {
  const { signal } = options;
  const data = sessionDataDirectory(resolvePaths(env), sessionId);
  let cursor = options.after;
  let pauseMs = PAUSE_MS;
  for (;;) {
    // Asked before the log is read: what a supervisor wrote before it went is in the log by then.
    const someoneLives = await withStore(env, (store) => isOwned(store, sessionId));
    for (;;) {
      const page = await readPage(env, sessionId, cursor);
      for (const event of page) yield event;
      cursor = page.at(-1)?.seq ?? cursor;
      if (page.length < PAGE) break;
    }
    if (!options.follow || signal.aborted || !someoneLives) return;
    if (await withStore(env, (store) => store.session(sessionId)?.state !== 'active')) return;
    const control = await readControl(data);
    try {
      if (control !== null) {
        for await (const event of streamSupervisor(serverOf(control), cursor, signal)) {
          if (event.seq <= cursor) continue;
          cursor = event.seq;
          pauseMs = PAUSE_MS;
          yield event;
          if (event.type === 'session.ended' || event.type === 'session.paused') return;
        }
      }
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error;
    }
    await delay(systemClock, pauseMs, signal);
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

function readPage(env: Environment, sessionId: string, after: number): Promise<StoredEvent[]> {
  return withStore(env, (store) => store.events({ sessionId, after, limit: PAGE }));
}

function isOwned(store: Store, sessionId: string): boolean {
  const owner = store.lease(sessionId);
  return owner !== null && isSameProcessAlive(owner);
}
