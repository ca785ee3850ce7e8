import { z } from 'zod';
import type { SessionRow } from '../../core/state/rows.js';
import { sessionRow, type SessionContext } from '../session-context.js';

export const leftOutReport = z.object({
  worker_id: z.string(),
  branch: z.string().nullable(),
  worktree: z.string().nullable().describe('null: it is gone; the branch has what was committed'),
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
      const from = integrated ?? base;
      const status = await session.git.status(worktree, from).catch(() => null);
      // Where the worktree is gone its branch has what was committed.
      const commits = status?.commitsBeyondBase ?? (await onBranch(session, row, { branch, from }));
      const changed_files = status?.changedFiles.length ?? 0;
      if (commits + changed_files === 0) return [];
      return {
        worker_id,
        branch,
        worktree: status === null ? null : worktree,
        commits,
        changed_files,
        discarded: reasons.get(worker_id) ?? null,
      };
    }),
  );
  return found.flat();
}

async function onBranch(
  { git }: SessionContext,
  { repository }: SessionRow,
  { branch, from }: { branch: string | null; from: string },
): Promise<number> {
  if (branch === null || repository === '') return 0;
  const ref = `refs/heads/${branch}`;
  return git.commitsBeyond({ repository, ref, base: from }).catch(() => 0);
}

function discarded({ store }: SessionContext, { session_id: sessionId }: SessionRow): Map<string, string> {
  const said = store
    .events({ after: 0, sessionId, types: ['goal.done'] })
    .flatMap(({ data }) => data.discarded);
  return new Map(said.map(({ worker, reason }) => [worker, reason]));
}
