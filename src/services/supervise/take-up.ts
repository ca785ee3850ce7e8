import type { LiveAgent, PastAgent } from '../../backends/contract.js';
import { OrchestratorError } from '../../core/errors/error.js';
import { LEAD_ID, ONLY_WORKER } from '../../core/ids.js';
import { isLiveWorker, isPerTurn, isTerminalRun } from '../../core/state/states.js';
import type { WorkerRow } from '../../core/state/rows.js';
import { fact, lastRun, type FactSubject } from '../engine/deps.js';
import { acceptInstruction } from '../engine/instruct.js';
import { workerDirectory } from '../places.js';
import { sessionRow, type LiveSession, type SessionContext } from '../session-context.js';
import { goOnWithRuns } from './go-on.js';
import { comeUp, launchAgent, recordStarted, startSpecOf } from './launch-agent.js';
import { endLeftCommands } from './left-commands.js';
import { relaunchLead, type Return } from './relaunch-lead.js';
import { tellOfRestart, wordsOfWorkers } from './restart-notice.js';
import { carryOnSpawn } from './spawn-worker.js';

const GRACE_MS = 2_000;

/** What was found of one worker that the rows say is alive. */
type Found =
  | { readonly is: 'alive'; readonly worker: WorkerRow; readonly agent: LiveAgent }
  /** Its agent is a process per turn: whether one runs just now is found out when it is taken over. */
  | { readonly is: 'by turns'; readonly worker: WorkerRow }
  /** Its process was there and is gone. */
  | { readonly is: 'ended'; readonly worker: WorkerRow; readonly past: PastAgent }
  /** Its process never existed: whoever was to start it died. */
  | { readonly is: 'unstarted'; readonly worker: WorkerRow };

/** Looks for every worker that the rows say is alive, and changes nothing but what nobody could see or steer any more. */
export async function findAgents(
  session: SessionContext,
  backend: LiveSession['backend'],
  live: readonly LiveAgent[],
): Promise<readonly Found[]> {
  const workers = session.store.workers(session.sessionId).filter((worker) => isLiveWorker(worker.state));
  return Promise.all(
    workers.map(async (worker): Promise<Found> => {
      const agent = live.find((candidate) => isOf(candidate, worker));
      if (agent !== undefined) return { is: 'alive', worker, agent };
      if (isPerTurn(worker) && !isBeingMade(worker)) return { is: 'by turns', worker };
      const { worker_id: workerId, attempt_id: attemptId } = worker;
      if (attemptId === null) return { is: 'unstarted', worker };
      const directory = workerDirectory(session.places, workerId);
      const past = await backend.lookBack({ workerId, attemptId, directory });
      return past.started || wasStarted(session, worker)
        ? { is: 'ended', worker, past }
        : { is: 'unstarted', worker };
    }),
  );
}

export interface ComingBack extends Return {
  /** Why nothing that ran in the session's place runs there any more; null: the place is as it was. */
  readonly placeGone: string | null;
  /** Why agents that live cannot reach us any more, and have to be started anew; null: they can. */
  readonly unreachable: string | null;
}

/**
 * Takes over everything that runs, records what ended meanwhile by its evidence, carries on with what was under way, and
 * tells the lead, which is started anew where it is gone. The session is then as if its supervisor had never been away.
 */
export async function takeUpSession(
  session: SessionContext,
  live: LiveSession,
  found: readonly Found[],
  back: ComingBack,
): Promise<void> {
  const before = wordsOfWorkers(session);
  await endLeftCommands(session);
  await live.verifyJobs.takeUp();
  finishIntegration(session, live);
  const taken = await Promise.all(found.map((one) => takeOver(session, live, one)));
  const lost = taken.filter((one) => one.is === 'ended');
  const adopted = taken.filter(isThere).map(({ worker }) => worker.worker_id);
  for (const { worker, past } of lost)
    await live.engine.endedMeanwhile(worker, whatBecame(past, back.placeGone));
  const workers = adopted.filter((workerId) => workerId !== LEAD_ID);
  await Promise.all(workers.map((workerId) => live.engine.takeUp(workerId)));
  const recovered = { adopted, lost: lost.map(({ worker }) => worker.worker_id) };
  session.store.append(fact('supervisor.recovered', subject(session), recovered));
  if (back.unreachable !== null) await endUnreachable(session, live, back.unreachable);
  const isLeadGone = !isLiveWorker(session.store.worker(session.sessionId, LEAD_ID)?.state ?? 'lost');
  const goesOn = sessionRow(session).verdict === null;
  if (!isLeadGone) tellOfRestart(session, before);
  await live.engine.takeUp(LEAD_ID);
  for (const one of found) if (one.is === 'unstarted') carryOn(session, live, one.worker);
  if (isLeadGone && goesOn) {
    goOnWithRuns(session, live);
    if (!isManual(live)) await relaunchLead(session, live, back);
  }
  if (goesOn && typeof back.addition === 'string' && (isManual(live) || !isLeadGone))
    addToGoal(session, isManual(live) ? ONLY_WORKER : LEAD_ID, back.addition);
  // Those that a message was to bring back.
  for (const { worker_id: workerId } of session.store.workers(session.sessionId)) live.engine.pump(workerId);
}

/** What it is after that: one that was found alive may have ended. */
async function takeOver(session: SessionContext, live: LiveSession, one: Found): Promise<Found> {
  if (one.is === 'by turns') live.engine.attach(one.worker, { takenOver: true });
  if (one.is !== 'alive') return one;
  const past = await adopt(session, live, one);
  return past === null ? one : { is: 'ended', worker: one.worker, past };
}

function isThere({ is }: Found): boolean {
  return is === 'alive' || is === 'by turns';
}

/** How an agent ended when everything in its place did says nothing of the agent. */
function whatBecame(past: PastAgent, placeGone: string | null): PastAgent {
  return placeGone === null ? past : { ...past, end: { kind: 'lost', reason: placeGone } };
}

/** Their conversations go on in processes that know where we are. */
async function endUnreachable(session: SessionContext, live: LiveSession, reason: string): Promise<void> {
  const alive = session.store.workers(session.sessionId).filter(({ state }) => isLiveWorker(state));
  const ending = { type: 'run.interrupted', summary: reason, evidence: 'process' } as const;
  await Promise.all(
    alive.map(async (worker) => {
      live.engine.endOpenRuns(worker, ending);
      await live.engine.end(worker, { graceMs: GRACE_MS, reason });
    }),
  );
}

/** There nobody leads. */
function isManual({ plan }: LiveSession): boolean {
  return plan.mode === 'manual';
}

function addToGoal(session: SessionContext, workerId: string, text: string): void {
  session.store.transaction((tx) => {
    const worker = tx.worker(session.sessionId, workerId);
    if (worker === null) return;
    const added = { kind: 'follow_up', sender: 'person', source: 'cli' } as const;
    acceptInstruction(session, tx, worker, { ...added, text: `The person adds to the goal:\n${text}` });
  });
}

/** Its worktree may not be there yet. */
function isBeingMade(worker: WorkerRow): boolean {
  return worker.state === 'starting' && worker.attempt_id === null;
}

function isOf(agent: LiveAgent, worker: WorkerRow): boolean {
  return agent.workerId === worker.worker_id && agent.attemptId === worker.attempt_id;
}

function wasStarted({ store, sessionId }: SessionContext, worker: WorkerRow): boolean {
  const attempt = store.attempts(sessionId).find(({ attempt_id: id }) => id === worker.attempt_id);
  // One that was given up before its process began has ended as well.
  return attempt !== undefined && (attempt.pid !== null || attempt.exit_status !== null);
}

/**
 * Its actor is there before its screen speaks; nothing is typed before the engine has taken it up. One that went since
 * it was found is answered with what became of it.
 */
async function adopt(
  session: SessionContext,
  live: LiveSession,
  { worker, agent }: Extract<Found, { is: 'alive' }>,
): Promise<PastAgent | null> {
  const { worker_id: workerId } = worker;
  const { attemptId } = agent;
  const spec = startSpecOf(session, live, worker, { attemptId, resumeThreadId: null });
  const messages = session.store.messages(session.sessionId, workerId);
  const untold = messages.every((message) => message.typed_at === null);
  const tools = live.toolsSeen.expect(workerId);
  live.engine.attach(worker, { takenOver: true, held: untold });
  const started = await live.backend.adopt(agent, spec).catch((error: unknown) => {
    session.logger.warn({ worker: workerId, err: error }, 'an agent that was found alive is gone');
    return null;
  });
  if (started === null) return live.backend.lookBack({ workerId, attemptId, directory: spec.directory });
  if (!wasStarted(session, worker)) recordStarted(session, worker, attemptId, started);
  else if (started.window !== null && started.window !== worker.window)
    session.store.append(
      fact('worker.moved', { ...subject(session), worker_id: workerId }, { window: started.window }),
    );
  if (untold) void comeUp(session, live, worker, { attemptId, launch: spec.launch, tools });
  return null;
}

/** The one place for agents that are not there: one that never was is started now. */
function carryOn(session: SessionContext, live: LiveSession, worker: WorkerRow): void {
  const run = lastRun(session.store, worker);
  const about = { ...subject(session), worker_id: worker.worker_id };
  if (run === null || isTerminalRun(run.state)) {
    // Its start had failed; only the worker's own end was still to be written.
    const reason = run?.summary ?? 'it was never started';
    session.store.append(fact('worker.lost', about, { reason, never_started: true }));
    return;
  }
  if (worker.attempt_id !== null)
    session.store.append(
      fact(
        'run.attempt_failed',
        { ...about, run_id: run.run_id },
        { attempt_id: worker.attempt_id, reason: 'the supervisor ended before the process began' },
      ),
    );
  const launch =
    worker.role === 'lead'
      ? launchAgent(session, live, worker, { runId: run.run_id, resumeThreadId: null })
      : carryOnSpawn(session, live, worker);
  launch.catch((error: unknown) =>
    session.logger.warn({ worker: worker.worker_id, err: error }, 'a start could not be carried on'),
  );
}

/** Whoever moves the integration branch next waits for this. */
function finishIntegration(session: SessionContext, live: LiveSession): void {
  const worktree = sessionRow(session).integration_worktree;
  if (worktree === null) return;
  live
    .integrating(() => session.git.recoverWorktree(worktree))
    .catch((error: unknown) =>
      session.logger.warn({ worktree, err: error }, 'the integration worktree could not be looked after'),
    );
}

export function notResumable(
  { sessionId }: { readonly sessionId: string },
  problem: string,
  hint?: string,
): OrchestratorError {
  return new OrchestratorError('SESSION_NOT_RESUMABLE', { session: sessionId, problem, hint });
}

function subject(session: SessionContext): FactSubject {
  return { session_id: session.sessionId, source: 'recovery', evidence: 'process' };
}
