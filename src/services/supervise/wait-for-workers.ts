import { isLiveWorker, isTerminalRun, workerWord, type WorkerWord } from '../../core/state/states.js';
import type { WorkerRow } from '../../core/state/rows.js';
import type { Reader } from '../../store/contract.js';
import { lastRun } from '../engine/deps.js';
import { takeNotices } from '../engine/notices.js';
import { isBeingEnded, requireAnswered, waitLimitMs, type Caller } from '../operation.js';
import { findWorker, type SessionContext } from '../session-context.js';

export interface WorkerOutcome {
  readonly worker_id: string;
  readonly state: WorkerWord | 'timeout';
  readonly worker_state: WorkerWord;
  readonly summary: string;
  readonly done: boolean;
  readonly waiting?: { kind: string; text: string };
}

const PROGRESS_EVERY_MS = 10_000;

/**
 * Parks until any (or all) of the workers has ended or waits for somebody, at most as long as the caller's client
 * allows, then says `timeout` for those still at it. What is answered here is not told to the lead a second time.
 */
export async function waitForWorkers(
  session: SessionContext,
  request: { workerIds: readonly string[]; mode: 'any' | 'all'; timeoutMs: number },
  caller: Caller,
  signal: AbortSignal,
  progress: (message: string) => void,
): Promise<WorkerOutcome[]> {
  for (const id of request.workerIds) findWorker(session, id);
  const look = () => request.workerIds.map((id) => outcomeOf(session.store, findWorker(session, id)));
  const satisfied = () => {
    const ready = look().filter((outcome) => outcome.state !== 'timeout').length;
    return request.mode === 'any' ? ready > 0 : ready === request.workerIds.length;
  };
  const capMs = waitLimitMs(caller, request.timeoutMs);
  const isOver = () => session.store.session(session.sessionId)?.state !== 'active';
  // One that is being ended gets no answer: it would act on it.
  const answerable = () => !isBeingEnded(session, caller) && (satisfied() || isOver());
  const wanted = { workerIds: request.workerIds, answerable };
  await untilAnswerable(session, wanted, capMs, signal, () => progress(describe(look())));
  requireAnswered(session, caller);
  const outcomes = look();
  if (caller.scope === 'lead' && !signal.aborted) {
    const answered = new Set(
      outcomes.filter((outcome) => outcome.state !== 'timeout').map((outcome) => outcome.worker_id),
    );
    takeNotices(
      session.store,
      session.sessionId,
      'answer of wait_for_worker',
      (notice) => notice.about !== null && answered.has(notice.about),
    );
  }
  return outcomes;
}

function outcomeOf(reader: Reader, worker: WorkerRow): WorkerOutcome {
  const run = lastRun(reader, worker);
  const word = workerWord(worker.state, run);
  const over = run === null ? !isLiveWorker(worker.state) : isTerminalRun(run.state);
  const base = { worker_id: worker.worker_id, worker_state: word, summary: run?.summary ?? '' };
  if (over) return { ...base, state: word, done: true };
  if (run?.state !== 'waiting') return { ...base, state: 'timeout', done: false };
  const waiting = { kind: run.waiting_kind ?? 'dialog', text: run.waiting_text ?? '' };
  return { ...base, state: 'waiting', worker_state: 'waiting', summary: waiting.text, done: false, waiting };
}

function untilAnswerable(
  session: SessionContext,
  { workerIds, answerable }: { workerIds: readonly string[]; answerable: () => boolean },
  capMs: number,
  signal: AbortSignal,
  beat: () => void,
): Promise<void> {
  return new Promise((resolve) => {
    const { clock, store, sessionId } = session;
    let cancelBeat = () => undefined as void;
    const finish = () => {
      unsubscribe();
      cancelCap();
      cancelBeat();
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const nextBeat = () => {
      cancelBeat = clock.after(PROGRESS_EVERY_MS, () => {
        beat();
        nextBeat();
      });
    };
    const cancelCap = clock.after(capMs, finish);
    const unsubscribe = store.subscribe(store.head(), ({ session_id, worker_id }) => {
      // With many calls that wait, none may look at its workers for what is about another's.
      if (session_id !== sessionId || (worker_id !== undefined && !workerIds.includes(worker_id))) return;
      if (answerable()) finish();
    });
    signal.addEventListener('abort', finish, { once: true });
    nextBeat();
    if (answerable() || signal.aborted) finish();
  });
}

function describe(outcomes: readonly WorkerOutcome[]): string {
  return outcomes.map((outcome) => `${outcome.worker_id} ${outcome.worker_state}`).join(', ');
}
