import { z } from 'zod';
import { defineOperation } from '../operation.js';
import { requireLive, sessionRow } from '../session-context.js';
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

export const pauseOperation = defineOperation({
  name: 'pause',
  summary: 'Pause a session: end its agents, keep their conversations and worktrees.',
  effect: 'write',
  idempotent: true,
  scopes,
  doors: { mcp: 'pausing is for the person', rest: true, cli: true },
  input: z.object({ reason: z.string().default('paused by the person') }),
  output: z.object({ pausing: z.boolean() }),
  run: async ({ session }, { reason }) => {
    requireLive(session).pause(reason);
    return { pausing: true };
  },
});
