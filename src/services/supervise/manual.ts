import { ONLY_WORKER } from '../../core/ids.js';
import { EXITED_WITHOUT_REPORT, isLiveWorker, isTerminalRun } from '../../core/state/states.js';
import type { RunRow, WorkerRow } from '../../core/state/rows.js';
import { projectPreamble } from '../context/project-files.js';
import { fact, lastRun, type FactSubject } from '../engine/deps.js';
import type { SessionBase } from '../../git/contract.js';
import { requireLive, sessionRow, type SessionContext } from '../session-context.js';
import type { EndSignals } from './await-end.js';
import { createIntegration } from './create-session.js';
import { integrateWorker } from './integrate-worker.js';
import type { SessionPlan } from './plan.js';
import { spawnWorker } from './spawn-worker.js';

const PERSON = 'person';

/** A turn that does not end after its report is not waited for any longer. */
const LAST_TURN_CAP_MS = 60_000;

/** The one worker of a session without a lead: a spawn as a lead would have asked for. Throws what a spawn throws. */
export async function startManual(session: SessionContext, plan: SessionPlan): Promise<void> {
  await spawnWorker(session, {
    task: plan.goal,
    perspective: 'implementer',
    file_scope: [],
    pass_criteria: '',
    extra_context: await projectPreamble(plan.project),
    sender: PERSON,
  });
}

/**
 * Does what a lead does when its worker ends: brings the work together, has it verified, gives the verdict. A pane is
 * over with the run; on the person's own terminal the agent's end is the end, since the person may go on with it.
 */
export function followManual(session: SessionContext, base: SessionBase, end: EndSignals): void {
  const { store, sessionId } = session;
  let over = false;
  let capped = false;
  let cancelCap = () => undefined as void;
  const look = () => {
    const found = over ? null : finished(session, capped);
    if (found === null) return;
    if (found === 'in its last turn') {
      cancelCap();
      cancelCap = session.clock.after(LAST_TURN_CAP_MS, () => {
        capped = true;
        look();
      });
      return;
    }
    stop();
    conclude(session, base, end, found).catch((error: unknown) => end.fail(String(error)));
  };
  const stop = () => {
    over = true;
    cancelCap();
    unsubscribe();
  };
  const unsubscribe = store.subscribe(store.head(), (event) => {
    if (event.session_id === sessionId && event.worker_id === ONLY_WORKER) look();
  });
  // Ended otherwise: a pause, its time, a fault. Before the end of the agents, which is none of its own then.
  void end.ended.then(stop);
  look();
}

type Over = { readonly worker: WorkerRow; readonly run: RunRow };

function finished(session: SessionContext, capped: boolean): Over | 'in its last turn' | null {
  const worker = session.store.worker(session.sessionId, ONLY_WORKER);
  const run = worker === null ? null : lastRun(session.store, worker);
  if (worker === null || run === null || !isTerminalRun(run.state)) return null;
  if (!isLiveWorker(worker.state)) return { worker, run };
  if (requireLive(session).plan.worker_backend === 'foreground') return null;
  return worker.state === 'working' && !capped ? 'in its last turn' : { worker, run };
}

async function conclude(
  session: SessionContext,
  base: SessionBase,
  end: EndSignals,
  { worker, run }: Over,
): Promise<void> {
  // Somebody closed its pane, or its terminal went: to be gone on with.
  if (run.state === 'interrupted') return end.pause(run.summary);
  const failure = run.state === 'succeeded' ? await bringTogether(session, base, worker) : reasonOf(run);
  // Paused or out of time meanwhile.
  if (sessionRow(session).state !== 'active' || end.isSettled()) return;
  session.store.append(
    failure === null
      ? fact('goal.done', subject(session), {
          summary: run.summary,
          verify_id: session.store.verifications(session.sessionId).at(-1)?.verify_id ?? null,
          forced: null,
          discarded: [],
        })
      : fact('goal.failed', subject(session), { reason: failure }),
  );
  end.verdict();
}

function reasonOf({ state, summary, failure_code: code }: RunRow): string {
  if (code === EXITED_WITHOUT_REPORT) return `its agent ended without a report: ${summary}`;
  const what = state === 'failed' ? '' : state === 'timed_out' ? 'timed out' : state;
  return [what, summary].filter((part) => part !== '').join(': ');
}

/** null: it is whole; else why it is not. A task that changed nothing has nothing to bring together. */
async function bringTogether(
  session: SessionContext,
  base: SessionBase,
  worker: WorkerRow,
): Promise<string | null> {
  const { worktree, base_commit: from, worker_id: workerId } = worker;
  const status = await session.git.status(worktree, from);
  if (status.commitsBeyondBase === 0 && status.changedFiles.length === 0) return null;
  if (sessionRow(session).integration_branch === null) await createIntegration(session, base);
  const { commit, conflicts } = await integrateWorker(session, {
    ...{ workerId, strategy: 'merge', onConflict: 'report', commit: true, sender: PERSON },
  });
  if (commit === null) return `its branch does not merge: ${conflicts.join(', ')}`;
  const verification = await requireLive(session).verifyJobs.start(commit).finished;
  if (verification.state !== 'failed') return null;
  const failed = verification.results.find(({ exit_code: code }) => code !== 0);
  return `the verification failed: ${failed?.command ?? verification.reason ?? ''}`;
}

function subject(session: SessionContext): FactSubject {
  return { session_id: session.sessionId, source: 'supervisor', evidence: 'process' };
}
