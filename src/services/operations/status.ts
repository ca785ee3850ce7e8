import { z } from 'zod';
import { defineOperation, PEOPLE } from '../operation.js';
import { sessionRow } from '../session-context.js';
import { keptOnDisk } from '../supervise/kept-on-disk.js';
import { leftOut } from '../supervise/left-out.js';
import { reportSession, sessionReport } from '../supervise/session-report.js';

const notForAgents = 'for the person: the lead has list_workers and integration_status';

export const statusOperation = defineOperation({
  name: 'status',
  summary: 'Show a session: state, workers, last verification, branch.',
  effect: 'read',
  idempotent: true,
  scopes: PEOPLE,
  doors: { mcp: notForAgents, rest: true, cli: true },
  input: z.object({
    disk_use: z
      .stringbool()
      .or(z.boolean())
      .default(false)
      .describe('also measure what it keeps on disk (not while a supervisor answers)'),
  }),
  output: sessionReport,
  run: async ({ session }, { disk_use: measured }) => {
    const row = sessionRow(session);
    const disk = measured && session.live === null ? await keptOnDisk(session, row) : null;
    return { ...reportSession(session.store, row), left_out: await leftOut(session), disk };
  },
});
