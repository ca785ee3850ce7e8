import type { EventName, StoredEvent } from '../events/index.js';
import { foldMessage } from './fold-message.js';
import { foldAttempt, foldRun } from './fold-run.js';
import { foldSession } from './fold-session.js';
import { foldVerification } from './fold-verification.js';
import { foldWorker, workerOf } from './fold-worker.js';
import type { AttemptRow, MessageRow, RunRow, SessionRow, VerificationRow, WorkerRow } from './rows.js';

export interface Rows {
  sessions: SessionRow;
  workers: WorkerRow;
  runs: RunRow;
  attempts: AttemptRow;
  messages: MessageRow;
  verifications: VerificationRow;
}

export type TableName = keyof Rows;

/** How one table is folded: which row an event touches (its key values, or null) and what becomes of it. */
export interface Projection<Row> {
  readonly key: readonly (keyof Row & string)[];
  readonly keyOf: (event: StoredEvent) => readonly string[] | null;
  readonly fold: (row: Row | null, event: StoredEvent) => Row | null;
}

/** Most of what agents tell: kept, and no row is changed by it, so that none has to be read for it. */
export const CHANGES_NO_ROW: ReadonlySet<EventName> = new Set([
  'text.completed',
  'reasoning.completed',
  'tool.called',
  'tool.returned',
]);

const dataField = (event: StoredEvent, field: string): readonly string[] | null => {
  const value: unknown = (event.data as Record<string, unknown>)[field];
  return typeof value === 'string' ? [value] : null;
};

/** The one list of projections; the store applies it on append and on rebuild. */
export const PROJECTIONS: { readonly [Name in TableName]: Projection<Rows[Name]> } = {
  sessions: { key: ['session_id'], keyOf: (event) => [event.session_id], fold: foldSession },
  workers: {
    key: ['session_id', 'worker_id'],
    keyOf: (event) => {
      const worker = workerOf(event);
      return worker === undefined ? null : [event.session_id, worker];
    },
    fold: foldWorker,
  },
  runs: {
    key: ['run_id'],
    keyOf: (event) => (event.run_id === undefined ? null : [event.run_id]),
    fold: foldRun,
  },
  attempts: { key: ['attempt_id'], keyOf: (event) => dataField(event, 'attempt_id'), fold: foldAttempt },
  messages: {
    key: ['message_id'],
    keyOf: (event) => (event.type.startsWith('message.') ? dataField(event, 'message_id') : null),
    fold: foldMessage,
  },
  verifications: {
    key: ['verify_id'],
    keyOf: (event) => dataField(event, 'verify_id'),
    fold: foldVerification,
  },
};
