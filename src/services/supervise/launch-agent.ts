import { join } from 'node:path';
import type { HeadlessLaunch, InteractiveLaunch, Launch, LaunchContext } from '../../agents/contract.js';
import { launchOf } from '../../agents/registry.js';
import { OrchestratorError, toOrchestratorError } from '../../core/errors/error.js';
import { isLiveWorker, isPerTurn } from '../../core/state/states.js';
import type { WorkerRow } from '../../core/state/rows.js';
import type { StartedAgent, StartSpec, TurnSpec } from '../../backends/contract.js';
import { ensurePrivateDirectory, writeFileAtomic } from '../../platform/files.js';
import { hashOf } from '../../platform/ids.js';
import { beginAttempt } from '../engine/begin-attempt.js';
import { fact, type FactSubject } from '../engine/deps.js';
import { undelivered } from '../engine/instruct.js';
import type { LiveSession, SessionContext } from '../session-context.js';
import { workerDirectory } from '../places.js';

const TOOLS_LIMIT_MS = 15_000;

/**
 * Starts the agent of a worker whose row, run and worktree exist. The attempt is committed before the spawn; the
 * engine follows the process from its start. Resolves when the process exists; readiness comes as `worker.ready`. null:
 * its agent is a process per turn, and the first turn begins by itself.
 * Throws SPAWN_FAILED, AGENT_NOT_LAUNCHABLE; then no process is left.
 */
export async function launchAgent(
  session: SessionContext,
  live: LiveSession,
  worker: WorkerRow,
  options: { runId: string; resumeThreadId: string | null },
): Promise<StartedAgent | null> {
  if (isPerTurn(worker)) {
    live.engine.attach(worker);
    live.engine.pump(worker.worker_id);
    return null;
  }
  const attemptId = session.newId();
  const spec = startSpecOf(session, live, worker, { attemptId, resumeThreadId: options.resumeThreadId });
  await writeFiles(spec.directory, spec.files);
  const tools = live.toolsSeen.expect(worker.worker_id);
  beginAttempt(session, worker, { runId: options.runId, attemptId, threadId: options.resumeThreadId });
  const started = await live.backend.start(spec);
  recordStarted(session, worker, attemptId, started);
  const current = session.store.worker(session.sessionId, worker.worker_id) ?? worker;
  live.engine.attach(current, { held: true });
  void comeUp(session, live, current, { attemptId, launch: spec.launch, tools });
  return started;
}

/**
 * Releases the worker's messages once its agent takes input and its client has our tools; never throws. One that came
 * up without them (they could not be reached just then) is started anew once: nothing was said to it yet.
 */
export async function comeUp(
  session: SessionContext,
  live: LiveSession,
  worker: WorkerRow,
  agent: { attemptId: string; launch: InteractiveLaunch; tools: Promise<void> },
): Promise<void> {
  const { worker_id: workerId } = worker;
  let hasEnded = false;
  try {
    if (worker.state === 'starting') hasEnded = await becomeReady(session, live, worker, agent.attemptId);
    if (hasEnded) return;
    if (!agent.launch.toolsAtStart || (await live.toolsSeen.within(agent.tools, TOOLS_LIMIT_MS))) return;
    session.logger.warn({ worker: workerId }, 'its agent has not asked for our tools');
    await live.engine.startAnew(workerId, agent.attemptId, 'its agent came up without our tools');
  } catch (error) {
    session.logger.warn({ worker: workerId, err: error }, 'it could not be started anew');
  } finally {
    // What was for one that ended, or made room for another process, waits for that.
    const now = session.store.worker(session.sessionId, workerId)?.attempt_id;
    if (!hasEnded && now === agent.attemptId) live.engine.release(workerId);
  }
}

export interface LaunchSpec extends StartSpec {
  /** What its agent finds in `directory`. */
  readonly files: readonly { readonly name: string; readonly content: string }[];
}

/**
 * Everything that an attempt is started with. It follows from the rows, the plan, the port and the session's secret
 * alone, so that a later supervisor makes the same of it. Throws AGENT_NOT_LAUNCHABLE.
 */
export function startSpecOf(
  session: SessionContext,
  live: LiveSession,
  worker: WorkerRow,
  options: { attemptId: string; resumeThreadId: string | null },
): LaunchSpec {
  const launch = launchIn(live, worker.agent, worker.backend === 'foreground' ? 'foreground' : 'tmux');
  const spec = processOf(session, live, worker, { ...options, launch });
  return { ...spec, argv: [...spec.argv, ...firstPrompt(session, worker, launch)], launch };
}

/** Nobody types on the person's own terminal but the person. */
function firstPrompt(
  session: SessionContext,
  worker: WorkerRow,
  launch: InteractiveLaunch,
): readonly string[] {
  if (worker.backend !== 'foreground') return [];
  const [first] = undelivered(session.store.messages(session.sessionId, worker.worker_id));
  return first === undefined ? [] : (launch.firstPrompt?.(first.text) ?? []);
}

/** What the process of the worker's next turn is started with; its files are there when this resolves. */
export async function turnSpecOf(
  session: SessionContext,
  live: LiveSession,
  { worker_id: workerId }: WorkerRow,
  attemptId: string,
): Promise<TurnSpec> {
  const worker = session.store.worker(session.sessionId, workerId);
  if (worker === null) throw new Error(`there is no worker ${workerId}`);
  const launch = launchIn(live, worker.agent, 'headless');
  const options = { attemptId, resumeThreadId: worker.thread_id, launch };
  const { files, ...process } = processOf(session, live, worker, options);
  await writeFiles(process.directory, files);
  return { ...process, launch, format: launch.format(contextOf(session, live, worker, options)) };
}

/** Throws AGENT_NOT_LAUNCHABLE where this version cannot start the agent there. */
export function launchIn(live: LiveSession, agent: string, backend: 'tmux' | 'foreground'): InteractiveLaunch;
export function launchIn(live: LiveSession, agent: string, backend: 'headless'): HeadlessLaunch;
export function launchIn(live: LiveSession, agent: string, backend: string): Launch;
export function launchIn(live: LiveSession, agent: string, backend: string): Launch {
  const { adapter } = live.agent(agent);
  const launch = launchOf(adapter, backend);
  if (launch !== null) return launch;
  throw new OrchestratorError('AGENT_NOT_LAUNCHABLE', {
    agent: adapter.name,
    valid: live.plan.worker_agents.filter((name) => launchOf(live.agent(name).adapter, backend) !== null),
  });
}

async function writeFiles(directory: string, files: LaunchSpec['files']): Promise<void> {
  await ensurePrivateDirectory(directory);
  for (const file of files) await writeFileAtomic(join(directory, file.name), file.content);
}

interface ProcessOptions {
  readonly attemptId: string;
  readonly resumeThreadId: string | null;
  readonly launch: Launch;
}

function contextOf(
  session: SessionContext,
  live: LiveSession,
  worker: WorkerRow,
  { resumeThreadId }: Pick<ProcessOptions, 'resumeThreadId'>,
): LaunchContext {
  const { adapter, binary } = live.agent(worker.agent);
  const access = live.agentAccess(worker.worker_id);
  return {
    binary,
    role: worker.role,
    directory: workerDirectory(session.places, worker.worker_id),
    worktree: worker.worktree,
    mcpUrl: access.mcpUrl,
    hookUrl: access.hookUrl,
    tokenVariable: access.tokenVariable,
    bypassPermissions: live.plan.bypass_permissions,
    isRoot: live.isRoot,
    hashOf,
    resumeThreadId,
    extra: live.plan.agent_options[adapter.name] ?? {},
  };
}

function processOf(
  session: SessionContext,
  live: LiveSession,
  worker: WorkerRow,
  options: ProcessOptions,
): Omit<LaunchSpec, 'launch'> {
  const { launch } = options;
  const context = contextOf(session, live, worker, options);
  return {
    workerId: worker.worker_id,
    attemptId: options.attemptId,
    role: worker.role,
    label:
      worker.role === 'lead'
        ? `lead ${worker.agent}`
        : `${worker.worker_id} ${worker.perspective} ${worker.agent}`,
    cwd: workingDirectory(worker, session),
    directory: context.directory,
    argv: launch.argv(context),
    env: { ...live.agentAccess(worker.worker_id).env, ...launch.env?.(context) },
    files: launch.files?.(context) ?? [],
  };
}

export function recordStarted(
  session: SessionContext,
  worker: WorkerRow,
  attemptId: string,
  started: StartedAgent,
): void {
  session.store.append(
    fact('worker.started', subject(session, worker), {
      attempt_id: attemptId,
      pane_id: started.paneId,
      window: started.window,
      pid: started.pid,
      pid_started_at: started.pidStartedAt,
    }),
  );
}

/** The project's own folder inside the worktree. */
function workingDirectory(worker: WorkerRow, session: SessionContext): string {
  const subdirectory = session.store.session(session.sessionId)?.subdirectory ?? '';
  return subdirectory === '' ? worker.worktree : join(worker.worktree, subdirectory);
}

/** true: it ended instead. */
async function becomeReady(
  session: SessionContext,
  live: LiveSession,
  worker: WorkerRow,
  attemptId: string,
): Promise<boolean> {
  try {
    await live.backend.ready(worker.worker_id);
  } catch (thrown) {
    const error = toOrchestratorError(thrown);
    session.logger.warn({ worker: worker.worker_id, code: error.code }, error.message);
    // Ended agents are told by their exit; a silent one needs somebody to look.
    if (error.code === 'AGENT_NOT_READY')
      live.engine.notReady(worker.worker_id, `${error.message}. ${error.hint ?? ''}`);
    return error.code === 'AGENT_EXITED';
  }
  const current = session.store.worker(session.sessionId, worker.worker_id);
  if (current === null || !isLiveWorker(current.state) || current.attempt_id !== attemptId) return true;
  session.store.append(fact('worker.ready', subject(session, worker), { attempt_id: attemptId }));
  return false;
}

function subject(session: SessionContext, worker: WorkerRow, runId?: string): FactSubject {
  return {
    session_id: session.sessionId,
    worker_id: worker.worker_id,
    source: 'supervisor',
    evidence: 'process',
    ...(runId === undefined ? {} : { run_id: runId }),
  };
}
