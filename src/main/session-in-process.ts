import { isServerAlive, killServer } from '../backends/tmux/attach.js';
import { OrchestratorError } from '../core/errors/error.js';
import { lastSaid } from '../backends/headless/turn-files.js';
import { createGit } from '../git/create-git.js';
import { systemClock } from '../platform/clock.js';
import { newId } from '../platform/ids.js';
import { ownIdentity } from '../platform/identity.js';
import { silentLogger } from '../platform/logger.js';
import { resolvePaths } from '../platform/paths.js';
import { createRedactor } from '../platform/redact.js';
import { callOperation } from '../services/call-operation.js';
import type { Caller } from '../services/operation.js';
import { OPERATIONS } from '../services/operations/index.js';
import { workerDirectory, type SessionPlaces } from '../services/places.js';
import type { LeftPanes, SessionContext } from '../services/session-context.js';
import type { Store } from '../store/contract.js';
import { openStore } from '../store/open-store.js';
import { sessionPlaces } from './places.js';
import type { SessionCall } from './session-client.js';

type Environment = Readonly<Record<string, string | undefined>>;

const CALLER: Caller = { scope: 'client', workerId: null, name: 'cli', callLimitMs: 3_600_000 };

/**
 * An operation on a session that has no supervisor: reads just look, everything else holds the session's lease
 * meanwhile. Throws SESSION_OWNED when a supervisor lives after all.
 */
export async function callInProcess(
  env: Environment,
  sessionId: string,
  { operation, reads, input }: SessionCall,
): Promise<Record<string, unknown>> {
  const store = openStore({ path: resolvePaths(env).database, clock: systemClock, readOnly: reads });
  const owner = ownIdentity();
  try {
    const context = contextOf(env, sessionId, store);
    if (!reads) {
      const lease = store.acquireLease(sessionId, owner);
      if (!lease.acquired)
        throw new OrchestratorError('SESSION_OWNED', { session: sessionId, pid: lease.holder.pid });
    }
    const call = { operation, input, caller: CALLER, signal: new AbortController().signal };
    const answer = await callOperation(OPERATIONS, context, call);
    await context.git.idle();
    return answer;
  } finally {
    if (!reads) store.releaseLease(sessionId, owner);
    store.close();
  }
}

function leftPanes(env: Environment, socketName: string | null, places: SessionPlaces): LeftPanes {
  const said: LeftPanes['said'] = (workerId, lines) =>
    lastSaid(workerDirectory(places, workerId), workerId, lines);
  if (socketName === null) return { areThere: async () => false, end: async () => true, said };
  return {
    said,
    areThere: async () => (await isServerAlive({ socketName, env })) !== 'no',
    end: async () => (await killServer({ socketName, env })) === 'no',
  };
}

function contextOf(env: Environment, sessionId: string, store: Store): SessionContext {
  const row = store.session(sessionId);
  if (row === null) throw new OrchestratorError('SESSION_NOT_FOUND', { session: sessionId });
  const redactor = createRedactor();
  const places = sessionPlaces(resolvePaths(env), row.project, sessionId);
  return {
    sessionId,
    store,
    git: createGit({ env, clock: systemClock }),
    clock: systemClock,
    logger: silentLogger,
    places,
    live: null,
    leftPanes: leftPanes(env, row.tmux_socket, places),
    redact: (text) => redactor.redact(text),
    newId,
  };
}
