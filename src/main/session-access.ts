import { delay } from '../core/clock.js';
import { OrchestratorError } from '../core/errors/error.js';
import { systemClock } from '../platform/clock.js';
import { isSameProcessAlive } from '../platform/identity.js';
import { ConnectionLost } from '../platform/http-client.js';
import { resolvePaths, sessionDataDirectory } from '../platform/paths.js';
import type { SessionReport } from '../services/supervise/session-report.js';
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

/** How the session stands, and with `diskUse` what it occupies. */
export async function reportOf(
  env: Environment,
  sessionId: string,
  { diskUse }: { readonly diskUse: boolean } = { diskUse: false },
): Promise<SessionReport> {
  const call = { operation: 'status', reads: true, input: {} };
  if (!diskUse) return (await callSession(env, sessionId, call)) as SessionReport;
  // Measured here: a supervisor has better things to do than to walk through worktrees.
  const { callInProcess } = await import('./session-in-process.js');
  return (await callInProcess(env, sessionId, { ...call, input: { disk_use: true } })) as SessionReport;
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

const LONGEST_PAUSE_MS = 100;

/**
 * Resolves when whoever owns the session or answers for it now does so no more; false after `limitMs`. A supervisor may
 * live on for a moment after that: somebody still reads how its session ended.
 */
export function settled(env: Environment, sessionId: string, limitMs: number): Promise<boolean> {
  const data = sessionDataDirectory(resolvePaths(env), sessionId);
  return withStore(env, async (store) => {
    const holders = async () => {
      const owner = store.lease(sessionId);
      const control = await readControl(data);
      return [...(owner !== null && isSameProcessAlive(owner) ? [owner.pid] : []), control?.pid ?? 0];
    };
    const first = (await holders()).filter((pid) => pid !== 0);
    const isHeld = async () => (await holders()).some((pid) => first.includes(pid));
    const deadline = systemClock.now() + limitMs;
    for (let pauseMs = 2; await isHeld(); pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      if (systemClock.now() >= deadline) return false;
      await delay(systemClock, pauseMs);
    }
    return true;
  });
}
