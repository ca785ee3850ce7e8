import { join, normalize } from 'node:path';
import { launchOf } from '../../agents/registry.js';
import { PERSPECTIVES, findPerspective, type Perspective } from '../context/perspectives.js';
import { delay } from '../../core/clock.js';
import { OrchestratorError, toOrchestratorError } from '../../core/errors/error.js';
import { LEAD_ID } from '../../core/ids.js';
import type { SessionRow, WorkerRow } from '../../core/state/rows.js';
import { ensurePrivateDirectory, writeFileAtomic } from '../../platform/files.js';
import { runShellCommand } from '../../platform/process.js';
import { fact, type FactSubject } from '../engine/deps.js';
import { takeNotices } from '../engine/notices.js';
import {
  requireLive,
  requireOpen,
  sessionRow,
  type LiveSession,
  type SessionContext,
} from '../session-context.js';
import { workerDirectory } from '../places.js';
import { launchAgent, launchIn } from './launch-agent.js';
import { withRoom } from './make-room.js';
import { reserveWorker, type SpawnRequest } from './reserve-worker.js';
import { resolveBase } from './resolve-base.js';

export interface SpawnResult {
  readonly worker: WorkerRow;
  readonly paneId: string | null;
  readonly reused: boolean;
  readonly warnings: readonly string[];
}

/** A spawn answers after this long at the latest; a longer set-up goes on and the lead is told how it ends. */
const ANSWER_CAP_MS = 25_000;
const SETUP_TIMEOUT_MS = 15 * 60_000;

export async function spawnWorker(session: SessionContext, request: SpawnRequest): Promise<SpawnResult> {
  const live = requireLive(session);
  const row = requireOpen(session);
  const perspective = perspectiveOf(request.perspective);
  checkScope(request.file_scope);
  const { agent, warnings } = chooseAgent(live, request.agent_hint);
  const backend = request.backend ?? usualBackend(live, agent);
  launchIn(live, agent, backend);
  const baseCommit = await resolveBase(session, row, request.base);
  const { worker, reused } = await withRoom(session, live, () =>
    session.store.transaction((tx) =>
      reserveWorker(session, live, tx, { request, perspective, agent, backend, baseCommit }),
    ),
  );
  let isAwaited = request.sender === LEAD_ID;
  if (!reused) {
    const made = { worker, perspective, stage: 'nothing is made', isToldByAnswer: () => isAwaited } as const;
    noteLaunching(live, worker, prepareAndLaunch(session, live, row, made));
  }
  const paneId = await Promise.race([
    live.launching.get(worker.worker_id) ?? Promise.resolve(worker.pane_id),
    delay(session.clock, ANSWER_CAP_MS).then(() => null),
  ]);
  isAwaited = false;
  return {
    worker: session.store.worker(session.sessionId, worker.worker_id) ?? worker,
    paneId,
    reused,
    warnings,
  };
}

/**
 * Carries on with a spawn whose supervisor died before the agent's process began. What that one made of a worktree is
 * made anew, unless its agent might have been in it.
 */
export async function carryOnSpawn(
  session: SessionContext,
  live: LiveSession,
  worker: WorkerRow,
): Promise<void> {
  const perspective = perspectiveOf(worker.perspective);
  const stage = worker.attempt_id === null ? 'may be half made' : 'made';
  const made = { worker, perspective, stage, isToldByAnswer: () => false } as const;
  const launch = prepareAndLaunch(session, live, sessionRow(session), made);
  noteLaunching(live, worker, launch);
  await launch;
}

function noteLaunching(live: LiveSession, worker: WorkerRow, launch: Promise<string | null>): void {
  live.launching.set(worker.worker_id, launch);
  void launch.catch(() => undefined).finally(() => live.launching.delete(worker.worker_id));
}

function perspectiveOf(name: string): Perspective {
  const perspective = findPerspective(name);
  if (perspective !== undefined) return perspective;
  throw new OrchestratorError('UNKNOWN_PERSPECTIVE', {
    perspective: name,
    valid: PERSPECTIVES.map((known) => known.name),
  });
}

function checkScope(scope: readonly string[]): void {
  for (const entry of scope) {
    const path = normalize(entry);
    if (path.startsWith('/') || path === '..' || path.startsWith('../'))
      throw new OrchestratorError('INVALID_INPUT', {
        field: 'file_scope',
        problem: `"${entry}" is outside the project`,
        hint: 'give paths relative to the project folder',
      });
  }
}

function chooseAgent(live: LiveSession, hint: string | undefined): { agent: string; warnings: string[] } {
  const [fallback = ''] = live.plan.worker_agents;
  if (hint === undefined || live.plan.worker_agents.includes(hint))
    return { agent: hint ?? fallback, warnings: [] };
  const known = live.plan.worker_agents.join(', ');
  return {
    agent: fallback,
    warnings: [`agent_hint "${hint}" is not an agent of this session (${known}): ${fallback} was taken`],
  };
}

/** As the session says, but for an agent that can only be started the other way. */
function usualBackend(live: LiveSession, agent: string): string {
  const { worker_backend: usual } = live.plan;
  if (usual === 'foreground') return usual;
  const other = usual === 'tmux' ? 'headless' : 'tmux';
  const { adapter } = live.agent(agent);
  return launchOf(adapter, usual) === null && launchOf(adapter, other) !== null ? other : usual;
}

interface Preparation {
  readonly worker: WorkerRow;
  readonly perspective: Perspective;
  /** How far an earlier supervisor got with its worktree. */
  readonly stage: 'nothing is made' | 'may be half made' | 'made';
  /** The lead is told of a failure by the answer of its call, which is still to come. */
  isToldByAnswer(): boolean;
}

/** Worktree → ignored files → set-up → prompt file → agent. Resolves with the pane; a failure leaves an honest record. */
async function prepareAndLaunch(
  session: SessionContext,
  live: LiveSession,
  row: SessionRow,
  { worker, perspective, stage, isToldByAnswer }: Preparation,
): Promise<string | null> {
  let created = false;
  try {
    if (stage === 'may be half made') await undoWorktree(session, row, worker);
    if (stage !== 'made') {
      await makeWorktree(session, row, worker);
      created = true;
      await session.git.includeIgnored({ project: row.project, worktree: worker.worktree });
      if (!perspective.readOnly) await runSetup(session, live, row, worker);
    }
    await writePrompt(session, worker);
    const runId =
      worker.last_run_id ?? session.store.worker(session.sessionId, worker.worker_id)?.last_run_id ?? '';
    const started = await launchAgent(session, live, worker, { runId, resumeThreadId: null });
    return started?.paneId ?? null;
  } catch (thrown) {
    const error = toOrchestratorError(thrown);
    session.logger.warn({ worker: worker.worker_id, code: error.code, err: error.cause }, error.message);
    recordFailure(session, live, worker, error);
    if (isToldByAnswer()) takeNoticeOf(session, worker);
    if (created)
      await undoWorktree(session, row, worker).catch((again: unknown) =>
        session.logger.warn({ worker: worker.worker_id, err: again }, 'its worktree could not be undone'),
      );
    throw error.code === 'INTERNAL'
      ? new OrchestratorError(
          'SPAWN_FAILED',
          { worker: worker.worker_id, problem: error.message },
          { cause: thrown },
        )
      : error;
  }
}

async function makeWorktree(session: SessionContext, row: SessionRow, worker: WorkerRow): Promise<void> {
  await session.git.createWorktree({
    repository: row.repository,
    path: worker.worktree,
    branch: worker.branch,
    commit: worker.base_commit,
    subdirectory: row.subdirectory,
  });
  session.store.append(
    fact(
      'branch.created',
      { session_id: session.sessionId, worker_id: worker.worker_id, source: 'git', evidence: 'process' },
      { branch: worker.branch ?? '', worktree: worker.worktree, commit: worker.base_commit },
    ),
  );
}

async function runSetup(
  session: SessionContext,
  live: LiveSession,
  row: SessionRow,
  worker: WorkerRow,
): Promise<void> {
  for (const { command } of row.setup_commands) {
    const result = await runShellCommand(command, {
      cwd: join(worker.worktree, row.subdirectory),
      env: live.commandEnvironment,
      timeoutMs: SETUP_TIMEOUT_MS,
      tailChars: 2_000,
    });
    if (result.exitCode === 0) continue;
    const problem = `the set-up command "${command}" ended with ${result.exitCode ?? 'a time-out'}: ${result.tail.slice(-400)}`;
    throw new OrchestratorError('SPAWN_FAILED', { worker: worker.worker_id, problem });
  }
}

/** The prompt as a file beside the flag: for people, for agents that take a file, and for a relaunch. */
async function writePrompt(session: SessionContext, worker: WorkerRow): Promise<void> {
  const directory = workerDirectory(session.places, worker.worker_id);
  await ensurePrivateDirectory(directory);
  const [task] = session.store.messages(session.sessionId, worker.worker_id);
  await writeFileAtomic(join(directory, `prompt_${worker.worker_id}.txt`), task?.text ?? '');
}

function recordFailure(
  session: SessionContext,
  live: LiveSession,
  worker: WorkerRow,
  error: OrchestratorError,
): void {
  live.engine.endOpenRuns(worker, {
    type: 'run.failed',
    summary: error.message,
    evidence: 'process',
    failureCode: error.code,
  });
  const subject: FactSubject = {
    session_id: session.sessionId,
    worker_id: worker.worker_id,
    source: 'supervisor',
    evidence: 'process',
  };
  session.store.append(
    fact('worker.lost', subject, { reason: `not started: ${error.message}`, never_started: true }),
  );
}

function takeNoticeOf({ store, sessionId }: SessionContext, { worker_id: workerId }: WorkerRow): void {
  takeNotices(store, sessionId, 'answer of spawn_worker', (notice) => notice.about === workerId);
}

async function undoWorktree(session: SessionContext, row: SessionRow, worker: WorkerRow): Promise<void> {
  const { repository } = row;
  await session.git.removeWorktree({ repository, path: worker.worktree, trash: session.places.trash });
  if (worker.branch !== null) await session.git.deleteBranch({ repository, branch: worker.branch });
}
