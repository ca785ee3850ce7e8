import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { OrchestratorError } from '../core/errors/error.js';
import { CATALOG, type ErrorCode, type ErrorParams } from '../core/errors/catalog.js';
import { startDetached } from '../platform/detached.js';
import { ensurePrivateDirectory } from '../platform/files.js';
import { sessionDataDirectory, type Paths } from '../platform/paths.js';
import type { SessionPlanInput } from '../services/supervise/plan.js';
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
  const data = sessionDataDirectory(paths, sessionId);
  await ensurePrivateDirectory(join(data, '..'));
  await ensurePrivateDirectory(data);
  const log = join(data, 'supervisor.log');
  const started = await startDetached(
    process.execPath,
    [fileURLToPath(new URL('./supervisor.js', import.meta.url))],
    { env, cwd: '/', input: JSON.stringify(order), logPath: log },
    signal,
  );
  if (started.line === null) throw new OrchestratorError('SUPERVISOR_FAILED', { problem: started.exit, log });
  const message = JSON.parse(started.line) as {
    ready?: ReadySession;
    error?: { code: string; message: string; params: ErrorParams };
  };
  if (message.ready !== undefined) return message.ready;
  const { code = 'INTERNAL', params = {}, message: problem = 'unknown' } = message.error ?? {};
  if (code in CATALOG && code !== 'INTERNAL') throw new OrchestratorError(code as ErrorCode, params);
  throw new OrchestratorError('SUPERVISOR_FAILED', { problem, log });
}
