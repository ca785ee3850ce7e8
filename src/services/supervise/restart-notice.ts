import type { NewEvent } from '../../core/events/index.js';
import { fact } from '../engine/deps.js';
import { noticesFor, pendingNotices } from '../engine/notices.js';
import { sessionRow, type SessionContext } from '../session-context.js';
import { reportWorker, type WorkerReport } from './session-report.js';

const BEGIN = 'the supervisor was restarted';

/** How each worker stands, in the words that the lead knows. */
export function wordsOfWorkers(session: SessionContext): ReadonlyMap<string, string> {
  return new Map(reports(session).map((worker) => [worker.worker_id, wordOf(worker)]));
}

/** Tells the lead once that the supervisor is another one, and what became of its workers meanwhile. */
export function tellOfRestart(session: SessionContext, before: ReadonlyMap<string, string>): void {
  const { state, verdict } = sessionRow(session);
  if (state !== 'active' || verdict !== null) return;
  const lines = reports(session).map((worker) => `  ${lineOf(worker, before.get(worker.worker_id))}`);
  const table = lines.length === 0 ? '  no worker was spawned yet' : lines.join('\n');
  const text = `${BEGIN}; nothing is lost, and a tool call that was broken off can be made again. Workers now:\n${table}`;
  session.store.transaction((tx) => {
    const outdated = pendingNotices(tx, session.sessionId).filter((notice) => notice.text.startsWith(BEGIN));
    tx.append(
      ...outdated.map(refused),
      ...noticesFor(session, tx, { about: null, text, evidence: 'process' }),
    );
  });
}

function refused(notice: { session_id: string; worker_id: string; message_id: string }): NewEvent {
  const { session_id, worker_id, message_id } = notice;
  const reason = 'the supervisor was restarted once more; a newer notice says how it stands';
  const subject = { session_id, worker_id, source: 'recovery', evidence: 'process' } as const;
  return fact('message.refused', subject, { message_id, reason });
}

/** The table of the workers as the lead is told of them. */
export function workerTable(session: SessionContext): readonly string[] {
  return reports(session).map((worker) => lineOf(worker, undefined));
}

function reports(session: SessionContext): WorkerReport[] {
  const workers = session.store.workers(session.sessionId).filter((worker) => worker.role === 'worker');
  return workers.map((worker) => reportWorker(session.store, worker));
}

function lineOf(worker: WorkerReport, before: string | undefined): string {
  const now = wordOf(worker);
  const meanwhile = before === undefined || before === now ? '' : ` (meanwhile; it was ${before})`;
  const text = worker.waiting?.text ?? worker.summary;
  return `${worker.worker_id} ${worker.perspective} (${worker.branch}): ${now}${meanwhile}${text === '' ? '' : `. ${text}`}`;
}

function wordOf(worker: WorkerReport): string {
  const waits = worker.waiting === null ? '' : ` (${worker.waiting.kind})`;
  return `${worker.state}${waits}${worker.integrated ? ', integrated' : ''}`;
}
