import { z } from 'zod';
import { OrchestratorError } from '../../core/errors/error.js';
import type { RunRow, SessionRow } from '../../core/state/rows.js';
import type { Reader } from '../../store/contract.js';

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
