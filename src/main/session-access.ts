import { goneWithin } from '../platform/process-tree.js';
import { OrchestratorError } from '../core/errors/error.js';
import { systemClock } from '../platform/clock.js';
import { isSameProcessAlive } from '../platform/identity.js';
import { ConnectionLost } from '../platform/local-http.js';
import { resolvePaths, sessionDataDirectory } from '../platform/paths.js';
import { withStore } from './cli-sessions.js';
import { callSupervisor, serverOf, type SessionCall } from './session-client.js';
import { readControl } from './session-control.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Through the session's supervisor when one lives, else here. Loads the operation table only in the second case. */
export async function callSession(
  env: Environment,
  sessionId: string,
  request: SessionCall,
): Promise<Record<string, unknown>> {
  const control = await readControl(sessionDataDirectory(resolvePaths(env), sessionId));
  if (control !== null) {
    try {
      return await callSupervisor(serverOf(control), request);
    } catch (error) {
      // A supervisor that is closing answers nothing more; what it wrote can still be read.
      if (!isGone(error) || !request.reads) throw goneError(error, sessionId);
    }
  }
  const { callInProcess } = await import('./session-in-process.js');
  return callInProcess(env, sessionId, request);
}

function isGone(error: unknown): boolean {
  return (
    error instanceof ConnectionLost || (error instanceof OrchestratorError && error.code === 'SHUTTING_DOWN')
  );
}

function goneError(error: unknown, sessionId: string): unknown {
  return error instanceof ConnectionLost
    ? new OrchestratorError('SUPERVISOR_NOT_RUNNING', { session: sessionId }, { cause: error })
    : error;
}

/** Resolves when no process owns the session or answers for it any more; false after `limitMs`. */
export async function settled(env: Environment, sessionId: string, limitMs: number): Promise<boolean> {
  const owner = await withStore(env, (store) => store.lease(sessionId));
  const control = await readControl(sessionDataDirectory(resolvePaths(env), sessionId));
  const pids = [
    ...(owner !== null && isSameProcessAlive(owner) ? [owner] : []),
    ...(control === null ? [] : [{ pid: control.pid, pidStartedAt: control.pid_started_at }]),
  ];
  const gone = await Promise.all(pids.map((supervisor) => goneWithin(supervisor, limitMs, systemClock)));
  return gone.every(Boolean);
}
