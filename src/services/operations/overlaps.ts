import { z } from 'zod';
import { EVERY_DOOR, LEAD_AND_PEOPLE, defineOperation } from '../operation.js';
import { sessionRow } from '../session-context.js';

export const overlapsOperation = defineOperation({
  name: 'overlaps',
  summary:
    'Compare the trees of all workers pairwise, uncommitted work included: who touches the same files, what would conflict.',
  effect: 'read',
  idempotent: true,
  scopes: LEAD_AND_PEOPLE,
  doors: EVERY_DOOR,
  input: z.object({}),
  output: z.object({
    overlaps: z.array(
      z.object({ a: z.string(), b: z.string(), files: z.array(z.string()), conflicts: z.array(z.string()) }),
    ),
  }),
  run: async ({ session }) => {
    const row = sessionRow(session);
    const trees = session.store
      .workers(session.sessionId)
      .filter(
        (worker) =>
          worker.role === 'worker' && !worker.read_only && worker.branch !== null && worker.state !== 'lost',
      )
      .map((worker) => ({ id: worker.worker_id, worktree: worker.worktree }));
    const overlaps = await session.git.overlaps({ repository: row.repository, base: row.base_commit, trees });
    return {
      overlaps: overlaps.map(({ a, b, files, conflicts }) => ({
        a,
        b,
        files: [...files],
        conflicts: [...conflicts],
      })),
    };
  },
});
