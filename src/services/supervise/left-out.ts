import { z } from 'zod';
import type { SessionRow } from '../../core/state/rows.js';
import { sessionRow, type SessionContext } from '../session-context.js';

export const leftOutReport = z.object({
  worker_id: z.string(),
  branch: z.string().nullable(),
  worktree: z.string(),
  commits: z.number().describe('of its branch, that were not integrated'),
  changed_files: z.number().describe('not committed'),
  discarded: z.string().nullable().describe('why the lead did not want it; null: it did not say'),
});
export type LeftOut = z.infer<typeof leftOutReport>;

/**
 * Work of workers that the result does not hold. null where that is no question: the session is not over or may go on
 * at any time (paused), or was cleaned, which kept what there was.
 */
export async function leftOut(session: SessionContext): Promise<LeftOut[] | null> {
  const row = sessionRow(session);
  if (['active', 'paused'].includes(row.state) || row.cleaned_at !== null) return null;
  const reasons = discarded(session, row);
  const workers = session.store.workers(row.session_id).filter(({ role }) => role === 'worker');
  const found = await Promise.all(
    workers.map(async ({ worker_id, branch, worktree, base_commit: base, integrated_commit: integrated }) => {
      // Gone with nothing in it, or its branch has it all the same: `clean` looks at that.
      const status = await session.git.status(worktree, integrated ?? base).catch(() => null);
      const [commits, changed_files] = [status?.commitsBeyondBase ?? 0, status?.changedFiles.length ?? 0];
      if (commits + changed_files === 0) return [];
      return {
        worker_id,
        branch,
        worktree,
        commits,
        changed_files,
        discarded: reasons.get(worker_id) ?? null,
      };
    }),
  );
  return found.flat();
}

function discarded({ store }: SessionContext, { session_id: sessionId }: SessionRow): Map<string, string> {
  const said = store
    .events({ after: 0, sessionId, types: ['goal.done'] })
    .flatMap(({ data }) => data.discarded);
  return new Map(said.map(({ worker, reason }) => [worker, reason]));
}
