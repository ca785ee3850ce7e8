import { z } from 'zod';
import { defineOperation } from '../operation.js';
import { sessionRow } from '../session-context.js';
import { reportSession, sessionReport } from '../supervise/session-report.js';

const scopes = ['client', 'admin'] as const;
const notForAgents = 'for the person: the lead has list_workers and integration_status';

export const statusOperation = defineOperation({
  name: 'status',
  summary: 'Show a session: state, workers, last verification, branch.',
  effect: 'read',
  idempotent: true,
  scopes,
  doors: { mcp: notForAgents, rest: true, cli: true },
  input: z.object({}),
  output: sessionReport,
  run: async ({ session }) => reportSession(session.store, sessionRow(session)),
});
