import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { OrchestratorError } from '../core/errors/error.js';
import { startDetached } from '../platform/detached.js';
import type { Paths } from '../platform/paths.js';
import type { SessionPlanInput } from '../services/supervise/plan.js';
import { makeSessionData } from './places.js';
import { readyOf } from './start-message.js';
import type { SupervisorOrderInput, TakeUpOrderInput } from './supervisor-order.js';

export interface ReadySession {
  readonly session_id: string;
  readonly base: string;
  readonly directory: string;
}

interface StartOptions {
  readonly paths: Paths;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
}

/** Starts the session's supervisor, which outlives this process, and waits until the session is ready or has failed. */
export function startSupervisor(plan: SessionPlanInput, options: StartOptions): Promise<ReadySession> {
  return start(plan.session_id, { plan }, options);
}

/** The same for a session whose supervisor died. Throws SESSION_NOT_RESUMABLE, SESSION_OWNED; then nothing is changed. */
export function takeUpSupervisor(order: TakeUpOrderInput, options: StartOptions): Promise<ReadySession> {
  return start(order.session_id, { take_up: order }, options);
}

async function start(
  sessionId: string,
  order: SupervisorOrderInput,
  { paths, env, signal }: StartOptions,
): Promise<ReadySession> {
  const log = join(await makeSessionData(paths, sessionId), 'supervisor.log');
  const started = await startDetached(
    process.execPath,
    [fileURLToPath(new URL('./supervisor.js', import.meta.url))],
    { env, cwd: '/', input: JSON.stringify(order), logPath: log },
    signal,
  );
  if (started.line === null) throw new OrchestratorError('SUPERVISOR_FAILED', { problem: started.exit, log });
  return readyOf<ReadySession>(
    started.line,
    (problem) => new OrchestratorError('SUPERVISOR_FAILED', { problem, log }),
  );
}
