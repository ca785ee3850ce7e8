import type { EphemeralEvent, StoredEvent } from '../../core/events/index.js';
import type { WorkerRow } from '../../core/state/rows.js';
import type { LiveSession, SessionContext } from '../session-context.js';
import { attentionSummary, type AttentionItem } from './attention.js';
import { followAttention } from './follow-attention.js';
import { reportWorker } from './session-report.js';
import { sessionRow } from '../session-context.js';

const LINE_MOST = 180;

/** Keeps pane borders and the status line true: one update per changed worker and event, nothing while nothing happens. */
export function followLabels(session: SessionContext, live: LiveSession): () => void {
  const labels = new Labels(session, live);
  const unfollow = followAttention(session, live, (items) => labels.attend(items));
  const unsubscribe = session.store.subscribe(session.store.head(), (event) => {
    const concerns =
      event.session_id === session.sessionId && /^(worker|run|message|progress|branch)\./.test(event.type);
    if (concerns && event.seq !== null) labels.refresh(event);
  });
  return () => {
    unfollow();
    unsubscribe();
  };
}

interface Known {
  readonly state: string;
  /** When it came into this state. */
  readonly since: string;
  readonly held: number;
}

class Labels {
  private readonly session: SessionContext;
  private readonly live: LiveSession;
  private readonly known = new Map<string, Known>();
  /** What waits for somebody, in words. */
  private waiting = '';
  /** What each place shows, by worker; '' is the status line. */
  private readonly shown = new Map<string, string>();

  constructor(session: SessionContext, live: LiveSession) {
    this.session = session;
    this.live = live;
  }

  refresh(event: StoredEvent | EphemeralEvent): void {
    const workers = this.session.store.workers(this.session.sessionId);
    for (const worker of workers) {
      // Sixty others are not looked at for what one of them says.
      const concerns = event.worker_id === undefined || event.worker_id === worker.worker_id;
      if (!concerns && this.known.has(worker.worker_id)) continue;
      this.known.set(worker.worker_id, this.look(worker, event));
      if (worker.attempt_id !== null) this.showLabel(worker);
    }
    this.showStatus(workers);
  }

  attend(items: readonly AttentionItem[]): void {
    this.waiting = attentionSummary(items);
    this.showStatus(this.session.store.workers(this.session.sessionId));
  }

  private look(worker: WorkerRow, event: StoredEvent | EphemeralEvent): Known {
    const { store, sessionId } = this.session;
    const before = this.known.get(worker.worker_id);
    const state = worker.role === 'lead' ? worker.state : reportWorker(store, worker).state;
    const touched = event.worker_id === worker.worker_id && event.type.startsWith('message.');
    return {
      state,
      // One that is seen for the first time may be what it is for long: another supervisor saw it begin.
      since: before === undefined ? worker.updated_at : before.state === state ? before.since : event.at,
      held:
        before !== undefined && !touched
          ? before.held
          : store.messages(sessionId, worker.worker_id).filter((message) => message.state === 'held').length,
    };
  }

  private showLabel(worker: WorkerRow): void {
    const { worker_id: workerId, agent } = worker;
    const known = this.known.get(workerId);
    if (known === undefined) return;
    const role = worker.role === 'lead' ? 'lead' : `${workerId} ${worker.perspective}`;
    const text = `${role} ${agent} · ${known.state}`;
    const more = {
      since: Date.parse(known.since),
      ...(known.held === 0 ? {} : { note: `${known.held} held` }),
    };
    this.show(workerId, `${text} ${known.since} ${known.held}`, () =>
      this.live.backend.label(workerId, text, more),
    );
  }

  private showStatus(workers: readonly WorkerRow[]): void {
    const row = sessionRow(this.session);
    if (row.state !== 'active') return;
    const words = workers
      .filter(({ role }) => role === 'worker')
      .map(({ worker_id: id }) => `${id} ${this.known.get(id)?.state ?? ''}`);
    const line = [this.waiting, row.last_progress ?? row.goal.split('\n')[0] ?? '', words.join('  ')]
      .filter((part) => part !== '')
      .join('  |  ')
      .slice(0, LINE_MOST);
    this.show('', line, () => this.live.backend.status(line));
  }

  private show(place: string, content: string, work: () => Promise<void>): void {
    if (this.shown.get(place) === content) return;
    this.shown.set(place, content);
    work().catch(() => this.shown.delete(place));
  }
}
