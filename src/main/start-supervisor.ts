import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { OrchestratorError } from '../core/errors/error.js';
import { CATALOG, type ErrorCode, type ErrorParams } from '../core/errors/catalog.js';
import { startDetached } from '../platform/detached.js';
import { ensurePrivateDirectory } from '../platform/files.js';
import { sessionDataDirectory, type Paths } from '../platform/paths.js';
import type { SessionPlanInput } from '../services/supervise/plan.js';

export interface ReadySession {
  readonly session_id: string;
  readonly base: string;
  readonly directory: string;
}

/** Starts the session's supervisor, which outlives this process, and waits until the session is ready or has failed. */
export async function startSupervisor(
  plan: SessionPlanInput,
  options: { paths: Paths; env: Readonly<Record<string, string | undefined>>; signal?: AbortSignal },
): Promise<ReadySession> {
  const data = sessionDataDirectory(options.paths, plan.session_id);
  await ensurePrivateDirectory(join(data, '..'));
  await ensurePrivateDirectory(data);
  const log = join(data, 'supervisor.log');
  const start = await startDetached(
    process.execPath,
    [fileURLToPath(new URL('./supervisor.js', import.meta.url))],
    { env: options.env, cwd: '/', input: JSON.stringify(plan), logPath: log },
    options.signal,
  );
  if (start.line === null) throw new OrchestratorError('SUPERVISOR_FAILED', { problem: start.exit, log });
  const message = JSON.parse(start.line) as {
    ready?: ReadySession;
    error?: { code: string; message: string; params: ErrorParams };
  };
  if (message.ready !== undefined) return message.ready;
  const { code = 'INTERNAL', params = {}, message: problem = 'unknown' } = message.error ?? {};
  if (code in CATALOG && code !== 'INTERNAL') throw new OrchestratorError(code as ErrorCode, params);
  throw new OrchestratorError('SUPERVISOR_FAILED', { problem, log });
}
