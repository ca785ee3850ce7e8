import { z } from 'zod';
import { defineOperation, PEOPLE } from '../operation.js';
import { cleanReport } from '../supervise/clean-report.js';
import { cleanSession } from '../supervise/clean-session.js';

export const cleanOperation = defineOperation({
  name: 'clean',
  summary: 'Remove what a session that is over left; what holds work is kept under a salvage ref first.',
  effect: 'destroy',
  idempotent: true,
  scopes: PEOPLE,
  doors: { mcp: 'cleaning up is for the person', rest: true, cli: true },
  input: z.object({
    dry_run: z.boolean().default(false).describe('only say what would go, and what would be kept'),
    give_up: z
      .boolean()
      .default(false)
      .describe('also when it could still be resumed, which it cannot afterwards'),
  }),
  output: cleanReport,
  run: async ({ session }, { dry_run: dryRun, give_up: giveUp }) => cleanSession(session, { dryRun, giveUp }),
});
