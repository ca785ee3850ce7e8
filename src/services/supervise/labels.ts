import type { LiveSession, SessionContext } from '../session-context.js';
import { reportWorker } from './session-report.js';
import { sessionRow } from '../session-context.js';

/** Keeps pane borders and the status line true: one update per changed worker and event, nothing while nothing happens. */
export function followLabels(session: SessionContext, live: LiveSession): () => void {
  const shown = new Map<string, string>();
  const refresh = () => {
    const workers = session.store.workers(session.sessionId);
    const words: string[] = [];
    for (const worker of workers) {
      const { state } = reportWorker(session.store, worker);
      const since = new Date(worker.updated_at).toTimeString().slice(0, 5);
      const role = worker.role === 'lead' ? 'lead' : `${worker.worker_id} ${worker.perspective}`;
      const text = `${role} ${worker.agent} · ${worker.role === 'lead' ? worker.state : state} · since ${since}`;
      if (worker.role === 'worker') words.push(`${worker.worker_id} ${state}`);
      if (shown.get(worker.worker_id) === text || worker.attempt_id === null) continue;
      shown.set(worker.worker_id, text);
      live.backend.label(worker.worker_id, text).catch(() => shown.delete(worker.worker_id));
    }
    const row = sessionRow(session);
    const line = [row.last_progress ?? row.goal.split('\n')[0] ?? '', words.join('  ')]
      .filter((part) => part !== '')
      .join('  |  ')
      .slice(0, 180);
    if (shown.get('') === line || row.state !== 'active') return;
    shown.set('', line);
    live.backend.status(line).catch(() => shown.delete(''));
  };
  return session.store.subscribe(session.store.head(), (event) => {
    const concerns =
      event.session_id === session.sessionId && /^(worker|run|progress|branch)\./.test(event.type);
    if (concerns && event.seq !== null) refresh();
  });
}
