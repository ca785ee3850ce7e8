import { z } from 'zod';
import { lastRun } from '../engine/deps.js';
import { sessionRow, type SessionContext } from '../session-context.js';
import { reportVerification, verifyReport } from './session-report.js';
import { isIntegrated } from './integrated.js';

const schema = z.object({
  branch: z.string().nullable(),
  worktree: z.string().nullable(),
  commit: z.string().nullable().describe('head of the integration branch'),
  clean: z.boolean(),
  workers: z.array(
    z.object({
      worker_id: z.string(),
      head: z.string().nullable(),
      run_state: z.string().nullable(),
      integrated: z.boolean().describe('everything it committed is in the integration branch'),
      commits: z.number(),
      uncommitted: z.array(z.string()),
    }),
  ),
  verify: verifyReport.nullable(),
  verified: z.boolean().describe('the last verification passed exactly at this commit'),
});

async function read(session: SessionContext): Promise<z.infer<typeof schema>> {
  const row = sessionRow(session);
  const worktree = row.integration_worktree;
  const status =
    worktree === null ? null : await session.git.status(worktree, row.base_commit).catch(() => null);
  const commit = status?.head ?? row.integration_commit;
  const verification = session.store.verifications(session.sessionId).at(-1);
  const workers = session.store
    .workers(session.sessionId)
    .filter((worker) => worker.role === 'worker' && !worker.read_only);
  return {
    branch: row.integration_branch,
    worktree,
    commit,
    clean: status === null || status.changedFiles.length === 0,
    workers: await Promise.all(
      workers.map(async (worker) => {
        const own = await session.git.status(worker.worktree, worker.base_commit).catch(() => null);
        return {
          worker_id: worker.worker_id,
          head: own?.head ?? worker.integrated_commit,
          run_state: lastRun(session.store, worker)?.state ?? null,
          integrated: own === null ? worker.integrated_commit !== null : isIntegrated(worker, own),
          commits: own?.commitsBeyondBase ?? 0,
          uncommitted: [...(own?.changedFiles ?? [])],
        };
      }),
    ),
    verify: verification === undefined ? null : reportVerification(verification),
    verified: verification?.state === 'passed' && verification.commit === commit,
  };
}

/** What is in the integration branch and what is not; works on a worktree that was removed after the session too. */
export const integrationStatus = { schema, read };
