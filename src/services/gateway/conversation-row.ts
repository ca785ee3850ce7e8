import { z } from 'zod';
import { OrchestratorError } from '../../core/errors/error.js';
import { formatWorkerId } from '../../core/ids.js';
import type { RunRow, SessionRow, WorkerRow } from '../../core/state/rows.js';
import type { Reader } from '../../store/contract.js';

/** The one worker that a conversation has, whichever of its providers is asked. */
export const FIRST_WORKER = formatWorkerId(1);

/** What a conversation keeps in `options` of its session. */
export const conversationOptionsSchema = z.object({
  permissions: z.enum(['agent', 'bypass']),
  metadata: z.record(z.string(), z.unknown()),
  /** The run that spawned it; null: nobody's child. */
  parent: z
    .object({ session_id: z.string(), run_id: z.string(), wake: z.boolean() })
    .nullable()
    .default(null),
  /** How many sessions are above it. */
  depth: z.number().int().default(0),
});
export type ConversationOptions = z.infer<typeof conversationOptionsSchema>;

export function optionsOf(session: SessionRow): ConversationOptions {
  return conversationOptionsSchema.parse(session.options);
}

/** Sessions of other kinds in the same database are none of ours. Throws SESSION_NOT_FOUND. */
export function findConversation(reader: Reader, sessionId: string): SessionRow {
  const row = reader.session(sessionId);
  if (row?.kind === 'conversation') return row;
  throw new OrchestratorError('SESSION_NOT_FOUND', { session: sessionId, daemon: true });
}

/** Its worker's row; made with the conversation itself. */
export function firstWorker(reader: Reader, sessionId: string): WorkerRow {
  const worker = reader.worker(sessionId, FIRST_WORKER);
  if (worker === null) throw new Error(`conversation ${sessionId} has no worker`);
  return worker;
}

/** Throws SESSION_ENDED for one that is archived. */
export function requireUnarchived(row: SessionRow): void {
  if (row.state !== 'active')
    throw new OrchestratorError('SESSION_ENDED', { session: row.session_id, state: 'archived' });
}

/** Throws RUN_NOT_FOUND, also for a run of a session of another kind. */
export function findRun({ store }: { readonly store: Reader }, runId: string): RunRow {
  const run = store.run(runId);
  if (run !== null && store.session(run.session_id)?.kind === 'conversation') return run;
  throw new OrchestratorError('RUN_NOT_FOUND', { run: runId });
}
