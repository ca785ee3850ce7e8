import { wasStopped, type StoredEvent } from '../../../core/events/index.js';
import type { SessionReport } from '../../../services/supervise/session-report.js';
import { durationWords } from '../../../core/duration.js';
import { attentionSummary } from '../../../services/supervise/attention.js';
import { clockTime, oneLine } from '../output/plain.js';

const WORDS_MOST = 80;

export interface Heartbeat {
  /** Notes what the event says last; true when the line may have changed. */
  hear(event: StoredEvent): boolean;
  /** The line for this state of things, or null when it says nothing new. */
  line(report: SessionReport, at: string): string | null;
  /** A line when something new waits for the person; null otherwise. */
  call(report: SessionReport, at: string): string | null;
}

/** One line per change: time, session, workers by state, the last word of anybody (80 characters). Silent otherwise. */
export function createHeartbeat(): Heartbeat {
  let words = '';
  let shown: string | null = null;
  let waiting: ReadonlySet<string> = new Set();
  return {
    hear(event) {
      const said = wordsOf(event);
      if (said !== null) words = oneLine(said, WORDS_MOST);
      return said !== null || /^(worker|run|session|branch|verify)\./.test(event.type);
    },
    line(report, at) {
      const text = [report.session_id, counts(report), words].filter((part) => part !== '').join('  ');
      if (text === shown) return null;
      shown = text;
      return `${clockTime(at)} ${text}`;
    },
    call({ session_id: id, attention }, at) {
      const before = waiting;
      waiting = new Set(attention.map(({ worker_id: worker, kind, since }) => `${worker} ${kind} ${since}`));
      if ([...waiting].every((item) => before.has(item))) return null;
      return `${clockTime(at)} ${attentionSummary(attention)}; to answer: agentorchestr attention ${id}`;
    },
  };
}

function counts(report: SessionReport): string {
  if (report.workers.length === 0) return 'no workers yet';
  const byState = new Map<string, number>();
  for (const { state } of report.workers) byState.set(state, (byState.get(state) ?? 0) + 1);
  const rank = (state: string) => (ORDER.includes(state) ? ORDER.indexOf(state) : ORDER.length);
  const sorted = [...byState].sort(([a], [b]) => rank(a) - rank(b));
  return sorted.map(([state, count]) => `${count} ${state}`).join(', ');
}

/** As work goes on; the same state always stands in the same place. */
const ORDER = [
  'starting',
  'idle',
  'running',
  'waiting',
  'blocked',
  'failed',
  'exited',
  'orphaned',
  'killed',
  'done',
];

/** What somebody said about the work; null for everything that is only machinery. */
function wordsOf(event: StoredEvent): string | null {
  const who = event.worker_id === undefined || event.worker_id === 'lead' ? '' : `${event.worker_id}: `;
  switch (event.type) {
    case 'progress.reported':
      return event.data.message;
    case 'run.succeeded':
    case 'run.blocked':
    case 'run.failed':
    case 'run.timed_out':
    case 'run.cancelled':
      return event.data.summary === '' ? null : `${who}${event.data.summary}`;
    case 'run.waiting':
    case 'worker.waiting':
      return `${who}waits (${event.data.kind}): ${event.data.text}`;
    case 'run.stalled':
      return `${who === '' ? 'the lead: ' : who}no sign of it for ${durationWords(event.data.quiet_ms)}`;
    case 'run.moved':
      return `${who === '' ? 'the lead: ' : who}moves again`;
    case 'conflict.predicted':
      return `${event.data.worker} would conflict in ${event.data.files.join(', ')}`;
    case 'branch.integrated':
      return `${event.data.worker} integrated`;
    case 'verify.started':
      return `verifying ${event.data.commit.slice(0, 7)}`;
    case 'verify.passed':
      return event.data.nothing_to_verify ? 'nothing to verify' : `verified ${event.data.commit.slice(0, 7)}`;
    case 'verify.failed':
      return `verification ${wasStopped(event.data.results) ? 'interrupted' : 'failed'}: ${event.data.reason}`;
    case 'goal.done':
      return event.data.summary;
    case 'goal.failed':
      return event.data.reason;
    default:
      return null;
  }
}
