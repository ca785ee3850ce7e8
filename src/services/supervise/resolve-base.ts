import { OrchestratorError } from '../../core/errors/error.js';
import type { SessionRow } from '../../core/state/rows.js';
import type { SessionContext } from '../session-context.js';

/**
 * The commit a new worker starts from: what is integrated so far (the session's base before the first integration),
 * another worker's branch, or any branch or commit of the repository. Throws REF_NOT_FOUND.
 */
export async function resolveBase(
  session: SessionContext,
  row: SessionRow,
  base: string | undefined,
): Promise<string> {
  const ref = refOf(session, row, base);
  const commit = await session.git.resolve(row.repository, ref);
  if (commit === null) throw new OrchestratorError('REF_NOT_FOUND', { ref: base ?? ref });
  return commit;
}

function refOf(session: SessionContext, row: SessionRow, base: string | undefined): string {
  if (base === undefined || base === 'integration') return row.integration_branch ?? row.base_commit;
  return session.store.worker(session.sessionId, base)?.branch ?? base;
}
